"""Test the loader in training frameworks: the examples of the page, and what frameworks read."""

from __future__ import annotations

import copy
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flow_program import LETTERS

import larder

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "guides" / "frameworks.md").read_text()
COMMANDS = {
    "Lightning": ["lightning"],
    "Accelerate": ["accelerate"],
    "Transformers": ["transformers", "accelerate"],
    "Distributed torch": ["torch"],
}


@pytest.mark.parametrize("framework", COMMANDS)
def test_the_examples_of_the_page(real: Path, tmp_path: Path, framework: str) -> None:
    for needed in ("torch", "numpy", "PIL", *COMMANDS[framework]):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    from PIL import Image

    for kind in "ab":
        (tmp_path / "photos" / kind).mkdir(parents=True)
        for i in range(4):
            Image.new("RGB", (9, 10 + i), (60 * i, 200 if kind == "a" else 0, 0)).save(
                tmp_path / "photos" / kind / f"{i}.png"
            )
    shared, *examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "photos.py").write_text(shared)
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    (tmp_path / "example.py").write_text(examples[headings.index(framework)] + "\nprint('did it')\n")
    run = ["-m", "torch.distributed.run", "--nproc-per-node=2"] if framework.startswith("Distributed") else []
    done = subprocess.run(
        [sys.executable, *run, "example.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{HERE.parent / 'src'}{os.pathsep}{tmp_path}", "CUDA_VISIBLE_DEVICES": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("did it") == (2 if run else 1)


def letters(**options: Any) -> larder.Loader:
    images = larder.underfolder(LETTERS).image_resize(width=8, height=8)
    return images.loader(4, **options)


@pytest.mark.parametrize(
    "options", [{"shuffle": True}, {"subset": range(3, 20, 2)}, {"rank": 1, "world_size": 2}, {"drop_last": True}]
)
def test_dataset_sampler_and_collation_give_the_batches(real: Path, options: dict[str, Any]) -> None:
    np = pytest.importorskip("numpy")
    with letters(**options) as loader:
        by_sampler = list(loader.batch_sampler)
        assert [n for batch in by_sampler for n in batch] == list(loader.sampler)
        dataset = loader.dataset
        assert (len(dataset), len(loader.sampler), len(loader.batch_sampler)) == (26, 26, len(loader))
        batches = list(loader)
        assert [batch.samples for batch in batches] == by_sampler
        for batch in batches:
            other = loader.collate_fn(dataset.__getitems__(batch.samples))
            assert np.array_equal(other["image"], batch["image"])
            assert other["metadata"] == batch["metadata"]
        dataset.close()


def test_attributes_are_the_options(real: Path) -> None:
    with letters(drop_last=True) as loader:
        assert (loader.batch_size, loader.drop_last, loader.pin_memory, loader.num_workers) == (4, True, False, 0)
        assert copy.copy(loader).batch_size == 4
    with larder.Loader(larder.underfolder(LETTERS), tokens=8, length="1") as loader:
        assert loader.batch_size is None
    one, other = larder.underfolder(LETTERS, name="one"), larder.underfolder(LETTERS, name="other")
    with larder.Loader(larder.Flow(one, other), nodes=["one", "other"]) as loader:
        assert not hasattr(loader, "dataset")


@pytest.mark.filterwarnings("ignore")
def test_accelerate_skips_batches_and_saves_the_state(real: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed")
    with letters(shuffle=True, tensors="torch", fields=["image"]) as loader:
        rest = [batch["image"].tolist() for batch in accelerate.skip_first_batches(loader, 3)]
        accelerator = accelerate.Accelerator(cpu=True)
        assert accelerator.prepare(loader) is loader
        accelerator.register_for_checkpointing(loader)
        for number, _ in enumerate(loader, 1):
            if number == 3:
                accelerator.save_state(tmp_path)
        accelerator.load_state(tmp_path)
        assert [batch["image"].tolist() for batch in loader] == rest


@pytest.mark.filterwarnings("ignore")
def test_transformers_resume_within_an_epoch(real: Path, tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed")
    transformers: Any = pytest.importorskip("transformers", reason="transformers is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    seen: list[Any] = []

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

        def forward(self, image: Any) -> Any:
            seen.append(image.tolist())
            return {"loss": self.layer(torch.ones(1)).sum()}

    class Trainer(transformers.Trainer):  # type: ignore[misc]
        def get_train_dataloader(self) -> Any:
            return letters(shuffle=True, tensors="torch", fields=["image"])

    quiet = {"report_to": [], "use_cpu": True, "disable_tqdm": True, "per_device_train_batch_size": 4}
    arguments = transformers.TrainingArguments(tmp_path, num_train_epochs=2, save_steps=10, **quiet)
    Trainer(Model(), arguments).train()
    whole = list(seen)
    seen.clear()
    Trainer(Model(), arguments).train(resume_from_checkpoint=str(tmp_path / "checkpoint-10"))
    assert len(whole) == 14
    assert seen == whole[10:]
    seen.clear()
    dataset = letters(tensors="torch", fields=["image"]).dataset
    transformers.Trainer(Model(), arguments, train_dataset=dataset).train()
    assert len(seen) == 14


@pytest.mark.filterwarnings("ignore")
def test_lightning_resumes_by_a_checkpoint(real: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    lightning: Any = pytest.importorskip("lightning", reason="lightning is not installed")
    seen: list[list[int]] = []

    class Module(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

        def training_step(self, batch: Any, index: int) -> Any:
            seen.append(batch.samples)
            return self.layer(torch.ones(1)).sum()

        def on_train_batch_end(self, *args: Any) -> None:
            if self.trainer.global_step == 10:
                self.trainer.save_checkpoint(tmp_path / "middle")

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    def fit(loader: larder.Loader, overfit_batches: int = 0, **options: Any) -> None:
        off = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
        quiet: dict[str, Any] = dict.fromkeys(off, False)
        trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", overfit_batches=overfit_batches, **quiet)
        trainer.fit(Module(), loader, **options)

    fit(letters(shuffle=True, tensors="torch", fields=["image"]))
    whole = list(seen)
    seen.clear()
    loader = letters(shuffle=True, tensors="torch", fields=["image"])
    fit(loader, ckpt_path=tmp_path / "middle", weights_only=False)
    assert len(whole) == 14
    assert seen == whole[10:]
    seen.clear()
    fit(letters(tensors="torch", fields=["image"]), overfit_batches=2)
    assert seen == [[0, 1, 2, 3], [4, 5, 6, 7]] * 2
