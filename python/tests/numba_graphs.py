"""Random programs of compiled functions that call each other with different flags."""

from __future__ import annotations

import random

FLAGS = ("", "", "", "fastmath=True", "fastmath={'nnan', 'ninf'}", "error_model='numpy'", "error_model='python'")

HELPERS = {
    "function": "@njit({options})\ndef h{i}(x, z):\n{body}",
    "inlined": "@njit({options}, inline='always')\ndef h{i}(x, z):\n{body}",
    "any number": "@njit({options})\ndef h{i}(x, *more):\n    z = more[0]\n{body}",
    "ufunc": "@vectorize\ndef h{i}(x, z):\n{body}",
    "overload": """
def api{i}(x, z):
    pass

@overload(api{i})
def api{i}_(x, z):
    def taken(x, z):
{nested}
    return taken

@njit({options})
def h{i}(x, z):
    return api{i}(x, z)
""",
}

CALLERS = {
    "function": "@njit({options})\ndef c{i}(x, z):\n{body}",
    "ufunc": "@vectorize(['float64(float64, float64)'], cache=True)\ndef c{i}(x, z):\n{body}",
    "lazy ufunc": "@vectorize(cache=True)\ndef c{i}(x, z):\n{body}",
    "stencil": "@stencil\ndef s{i}(a, x, z):\n{inner}    return r + a[0]\n\n"
    "@njit({options})\ndef c{i}(x, z):\n    return s{i}(np.zeros(2), x, z)[0]\n",
}


def _body(number: int, called: list[int], indent: str = "    ", returns: bool = True) -> str:
    """Return lines whose result depends on each flag: a sum, a division by zero, NaN."""
    lines = [f"r = ((x + 1e20) - 1e20) * {2.0**number}", "if z != z:", f"    r += {2.0 ** (number + 12)}"]
    lines += ["if z == 0.0:", "    r += 1.0 / z"]
    lines += [f"r += h{i}(x, z)" for i in called]
    lines += ["return r"] if returns else []
    return "".join(f"{indent}{line}\n" for line in lines)


def _function(forms: dict[str, str], i: int, number: int, called: list[int], rng: random.Random) -> str:
    cached = rng.random() < 0.7
    options = ", ".join([*filter(None, [rng.choice(FLAGS)]), *(["cache=True"] if cached else [])]) or "nogil=False"
    return forms[rng.choice(list(forms))].format(
        i=i,
        options=options,
        body=_body(number, called),
        nested=_body(number, called, "        "),
        inner=_body(number, called, returns=False),
    )


def program(seed: int) -> tuple[str, list[str]]:
    """Return a program that calls functions by the names in HISTORY, and orders of these."""
    rng = random.Random(seed)
    helpers = rng.randint(2, 3)
    parts = [_function(HELPERS, i, i, [j for j in range(i) if rng.random() < 0.7], rng) for i in range(helpers)]
    for i in range(3):
        parts.append(_function(CALLERS, i, i + 6, rng.sample(range(helpers), rng.randint(1, helpers)), rng))
    names = [*(f"h{i}" for i in range(helpers)), *(f"c{i}" for i in range(3))]
    orders = [",".join(rng.sample(names, rng.randint(2, len(names)))) for _ in range(4)]
    call = "print([got(globals()[name], 1.0, z) for name in HISTORY for z in (0.0, 1.0, float('nan'))])\n"
    return "\n".join([*parts, call]), [*orders, orders[0]]
