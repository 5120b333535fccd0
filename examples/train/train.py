"""Train a small network on handwritten digits, and resume after interruptions.

After any number of interruptions, also by kill -9, the final weights are the same to the last
bit: the state of the loader, saved with the weights, determines the next batch.
"""

import argparse
import os
import pathlib

import numpy as np

import larder


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--data", default="data", help="the directory that prepare.py wrote")
    p.add_argument("--save", default="checkpoint.npz", help="file for weights and state")
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--stop-after", type=int, default=-1, help="stop after this number of steps, as if interrupted")
    return p.parse_args()


class Network:
    """Two layers with momentum, stored as arrays."""

    def __init__(self) -> None:
        r = np.random.default_rng(0)
        self.weights = [r.normal(0, 0.1, (64, 64)), np.zeros(64), r.normal(0, 0.1, (64, 10)), np.zeros(10)]
        self.velocity = [np.zeros_like(w) for w in self.weights]

    def forward(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = images.reshape(len(images), 64)
        hidden = np.maximum(x @ self.weights[0] + self.weights[1], 0)
        scores = hidden @ self.weights[2] + self.weights[3]
        scores -= scores.max(axis=1, keepdims=True)
        p = np.exp(scores)
        return x, hidden, p / p.sum(axis=1, keepdims=True)

    def step(self, images: np.ndarray, labels: np.ndarray) -> float:
        x, hidden, p = self.forward(images)
        n = len(labels)
        loss = float(-np.log(p[np.arange(n), labels]).mean())
        p[np.arange(n), labels] -= 1
        p /= n
        back = (p @ self.weights[2].T) * (hidden > 0)
        gradients = [x.T @ back, back.sum(axis=0), hidden.T @ p, p.sum(axis=0)]
        for w, v, g in zip(self.weights, self.velocity, gradients, strict=True):
            v *= 0.9
            v -= 0.1 * g
            w += v
        return loss


def save(path: pathlib.Path, network: Network, steps: int, loader: larder.Loader) -> None:
    """Save atomically: an interruption leaves the previous file."""
    new = path.with_suffix(".new.npz")
    arrays = {f"w{k}": w for k, w in enumerate(network.weights)} | {f"v{k}": v for k, v in enumerate(network.velocity)}
    np.savez(new, steps=steps, loader=loader.state_dict()["state"], **arrays)
    os.replace(new, path)


def load(path: pathlib.Path, network: Network, loader: larder.Loader) -> int:
    with np.load(path) as saved:
        network.weights = [saved[f"w{k}"] for k in range(4)]
        network.velocity = [saved[f"v{k}"] for k in range(4)]
        loader.load_state_dict({"state": str(saved["loader"])})
        return int(saved["steps"])


def main() -> None:
    a = arguments()
    flow = pathlib.Path(__file__).with_name("flow.yaml")
    options = {"set": {"data": os.path.abspath(a.data)}, "fields": {"images": {"dtype": "float64", "scale": 1 / 16}, "labels": None}}
    train = larder.Loader(flow, node="parts.train", batch_size=32, shuffle=True, seed=1, **options)
    test = larder.Loader(flow, node="parts.test", batch_size=512, **options)
    network, steps, path = Network(), 0, pathlib.Path(a.save)
    if path.exists():
        steps = load(path, network, train)
        print(f"goes on after step {steps}")
    while train.epoch < a.epochs:
        for batch in train:
            if steps == a.stop_after:
                return
            loss = network.step(batch["images"], batch["labels"])
            steps += 1
            if steps % 10 == 0:
                save(path, network, steps, train)
        print(f"epoch {train.epoch}: loss {loss:.4f}")
    right, total, loss = 0, 0, 0.0
    for batch in test:
        labels, p = batch["labels"], network.forward(batch["images"])[2]
        right += int((p.argmax(axis=1) == labels).sum())
        loss -= float(np.log(p[np.arange(len(labels)), labels]).sum())
        total += len(labels)
    print(f"{steps} steps, {100 * right / total:.1f} % of {total} right, loss {(loss / total).hex()}")


if __name__ == "__main__":
    main()
