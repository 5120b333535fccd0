"""Edits of what the compiler shows to a program, or asks it, while it compiles: see `numba_edits`."""

from __future__ import annotations

import textwrap

from numba_edits import Edit

_HEAD = "# nothing\nfrom numba import njit, types\nfrom numba.extending import intrinsic, overload\n"

EDITS: list[Edit] = []


def _edit(name: str, m: str, *changes: tuple[str, str, str], differs: bool = True, **files: str) -> None:
    made = {file: _HEAD + textwrap.dedent(text) for file, text in {"m": m, **files}.items()}
    EDITS.append(Edit("edit_" + name.replace(" ", "_"), made, changes, differs, alone=True))


_PASS = """
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import IRProcessing
@register_pass(mutates_CFG=False, analysis_only=False)
class Looks(FunctionPass):
    _name = "larder_looks"
    def __init__(self):
        FunctionPass.__init__(self)
    def run_pass(self, state):
        for block in state.func_ir.blocks.values():
            for found in block.find_insts(ir.Assign):
                if isinstance(found.value, ir.Const) and found.value.value == 77:
                    found.value.value = SEEN
        return True
class Pipeline(CompilerBase):
    def define_pipelines(self):
        made = DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.add_pass_after(Looks, IRProcessing)
        made.finalize()
        return [made]
"""

_REWRITE = """
from numba.core import ir
from numba.core.rewrites import Rewrite, register_rewrite
@register_rewrite("before-inference")
class Looks(Rewrite):
    def match(self, code, block, typed, called):
        self.block = block
        values = [a for a in block.find_insts(ir.Assign) if isinstance(a.value, ir.Const)]
        self.found = [a for a in values if a.value.value == 77]
        return bool(self.found)
    def apply(self):
        for found in self.found:
            found.value = ir.Const(SEEN, found.loc)
        return self.block
"""

_LOOKED_AT = """
from . import dep
@njit(cache=True OPTION)
def f(x):
    '''Says a.'''
    y = 77
    return x + y
def run():
    return f(2)
"""


def _of_code() -> None:
    through = _LOOKED_AT.replace(" OPTION", ", pipeline_class=dep.Pipeline")
    line, name = ("m", "@njit", "\n\n@njit"), ("m", " y", " longer")
    said, seen = ("m", "Says a", "Says a b"), "len(state.func_id.func.__doc__)"
    _edit("pass that reads lines", through, line, dep=_PASS.replace("SEEN", "found.loc.line"))
    _edit("pass that reads the first line", through, line, dep=_PASS.replace("SEEN", "state.func_id.firstlineno"))
    _edit("pass that reads names of variables", through, name, dep=_PASS.replace("SEEN", "len(found.target.name)"))
    _edit("pass that reads docstrings", through, said, dep=_PASS.replace("SEEN", seen))
    made = "f.mark = 3\nf = njit(cache=True, pipeline_class=dep.Pipeline)(f)\ndef run"
    marked = through.replace("@njit(cache=True, pipeline_class=dep.Pipeline)\n", "").replace("def run", made)
    mark = _PASS.replace("SEEN", "getattr(state.func_id.func, 'mark')")
    _edit("pass that reads attributes", marked, ("m", "mark = 3", "mark = 4"), dep=mark)
    plain = _LOOKED_AT.replace(" OPTION", "")
    _edit("rewrite that reads lines", plain, line, dep=_REWRITE.replace("SEEN", "found.loc.line"))
    _edit("rewrite that reads names of variables", plain, name, dep=_REWRITE.replace("SEEN", "len(found.target.name)"))
    _edit("same lines where nothing looks at them", plain, line, differs=False)
    inlined = """
    def cost(call, caller, callee):
        return call.loc.line % 2 == 0
    @njit(inline=cost)
    def g(x):
        return x + 1
    @njit(cache=True)
    def f(x):
        return g(x)
    def run():
        return f(1), g.signatures == []
    """
    _edit("inlining by lines", inlined, ("m", "@njit(cache", "\n@njit(cache"))
    over = """
    def cost(call, caller, callee):
        return call.loc.line % 2 == 0
    def g(x):
        pass
    @overload(g, inline=cost)
    def of_g(x):
        return lambda x: x + 1
    @njit(cache=True)
    def f(x):
        return g(x)
    def run():
        return f(1)
    """
    _edit("same overload that is inlined by lines", over, ("m", "return f(1)", "return int(f(1))"), differs=False)
    _edit("same pass", through, ("dep", "# nothing", ""), differs=False, dep=_PASS.replace("SEEN", "found.loc.line"))


def _of_callers() -> None:
    made = """
    @intrinsic
    def seen(context):
        def code(context, builder, signature, arguments):
            return context.get_constant(types.int64, SEEN)
        return types.int64(), code
    MARK = 3
    @njit(cache=True)
    def f(x):
        '''Says a.'''
        return seen() + x
    def run():
        return f(2)
    """
    said, mark = ("m", "Says a", "Says a b"), ("m", "MARK = 3", "MARK = 4")
    space = "context.fndesc.lookup_globals()['MARK']"
    _edit("lowering that reads docstrings", made.replace("SEEN", "len(context.fndesc.doc)"), said)
    _edit("lowering that reads variables", made.replace("SEEN", space), mark)
    _edit("lowering by a string", made.replace("SEEN", "len(getattr(context, 'fndesc').doc)"), said)
    named = made.replace("SEEN", "len(getattr(context, NAME).doc)").replace("MARK = 3", "NAME = 'fndesc'")
    _edit("lowering by a string elsewhere", named, said)
    getter = "import operator\n    get = operator.attrgetter('fndesc.doc')"
    _edit("lowering by a getter", made.replace("SEEN", "len(get(context))").replace("MARK = 3", getter), said)


def _of_files() -> None:
    over = """
    import functools, glob, operator, pathlib
    from . import dep
    HERE = pathlib.Path(__file__).parent
    FILE = HERE / "dep.py"
    OTHER
    def g(x):
        pass
    @overload(g)
    def of_g(x):
        k = READ
        return lambda x: x + k
    @njit(cache=True)
    def f(x):
        return g(x)
    def run():
        return f(2)
    """
    reads = "import fileinput\ndef read(path):\n    return ''.join(fileinput.input(path))\n"
    longer = ("dep", "# nothing", "# nothing and more")
    for name, read, other in (
        ("path by a string", "len(getattr(FILE, 'read_text')())", ""),
        ("caller", "len(read(FILE))", "read = operator.methodcaller('read_text')"),
        ("partial", "len(read())", "read = functools.partial(operator.methodcaller('read_text'), FILE)"),
        ("parent", "sum(len(p.read_text()) for p in FILE.parent.glob('dep.*'))", ""),
        ("listing", "sum(len(dep.read(p)) for p in glob.glob(str(FILE)))", ""),
    ):
        _edit(f"file by a {name}", over.replace("READ", read).replace("OTHER", other), longer, dep=reads)
    parses = "import configparser\ndef read(path):\n    c = configparser.ConfigParser()\n    c.read(path)\n"
    parses += "    return c['a']['b']\n"
    made = over.replace("READ", "len(dep.read(HERE / 'settings.py'))").replace("OTHER", "")
    _edit("file by a parser", made, ("settings", "b = 3", "b = 34"), dep=parses)
    EDITS[-1].files["settings"] = "[a]\nb = 3\n"


def _of_conversions() -> None:
    made = """
    from numba.core import cgutils
    from numba.core.typeconv.rules import default_casting_rules, default_type_manager
    from numba.extending import NativeValue, lower_cast, models, register_model, typeof_impl, unbox
    class Kind(types.Type):
        def __init__(self):
            super().__init__("LarderKind")
    kind = Kind()
    class Value:
        pass
    @typeof_impl.register(Value)
    def of_value(value, context):
        return kind
    register_model(Kind)(models.OpaqueModel)
    @unbox(Kind)
    def in_code(typ, value, context):
        return NativeValue(context.context.get_dummy_value())
    RULE
    @lower_cast(Kind, types.Integer)
    def as_integer(context, builder, before, after, value):
        return context.get_constant(after, 7)
    @lower_cast(Kind, types.Float)
    def as_float(context, builder, before, after, value):
        return context.get_constant(after, 8.5)
    @njit(["int64(int64)", "float64(float64)"])
    def g(x):
        return x + 1
    @njit(cache=True)
    def f(value):
        return g(value)
    def run():
        return float(f(Value()))
    """
    for name, rule in (
        ("of the rules", "default_casting_rules.promote_unsafe(kind, types.int64)"),
        ("of the table", "default_type_manager.set_unsafe_convert(kind, types.int64)"),
        ("by a loop", "for to in [types.int64]:\n        default_type_manager.set_promote(kind, to)"),
    ):
        _edit(f"conversion {name}", made.replace("RULE", rule), ("m", "types.int64", "types.float64"))
    rules = "default_casting_rules.promote_unsafe(kind, types.int64)\ndefault_type_manager.set_promote(kind, kind)\n"
    plain = "from . import dep\n@njit(cache=True)\ndef f(x):\n    return x + 1\ndef run():\n    return f(1)\n"
    kinds = textwrap.dedent(made).replace("RULE\n", rules).replace("def run", "def other")
    other = ("dep", "types.int64", "types.float64")
    _edit("same conversion of what is not used", plain, other, differs=False, dep=kinds)


def _of_texts() -> None:
    over = """
    import codecs, reprlib
    codecs.register_error("NAME", lambda error: ("y" * 3, error.end))
    HOW = "larder"
    OTHER
    def g(x):
        pass
    @overload(g)
    def of_g(x):
        k = len(READ)
        return lambda x: x + k
    @njit(cache=True)
    def f(x):
        return g(x)
    def run():
        return f(2)
    """
    change = ("m", "* 3", "* 4")
    for name, read in (
        ("encodes", "'\\xe9'.encode('ascii', 'larder')"),
        ("decodes", "b'\\xe9'.decode('ascii', errors='larder')"),
        ("makes text", "str(b'\\xe9', 'ascii', 'larder')"),
        ("encodes by a name", "'\\xe9'.encode('ascii', HOW)"),
        ("gets the handler", "codecs.lookup_error(HOW)(UnicodeEncodeError('ascii', 'e', 0, 1, ''))[0]"),
    ):
        _edit(f"handler of errors where it {name}", over.replace("NAME", "larder").replace("READ", read), change)
    own = over.replace("NAME", "replace").replace("READ", "'\\xe9'.encode('ascii', 'replace')")
    _edit("handler of errors in place of that of Python", own, change)
    short = over.replace("NAME", "larder").replace("READ", "reprlib.repr(list(range(50)))")
    short = short.replace("OTHER", "reprlib.aRepr.maxlist = 3")
    _edit("how much of values is shown", short, ("m", "maxlist = 3", "maxlist = 8"))
    unused = over.replace("NAME", "larder").replace("READ", "'abc'")
    _edit("same handler that nothing uses", unused, change, differs=False)


_of_code()
_of_callers()
_of_files()
_of_conversions()
_of_texts()
