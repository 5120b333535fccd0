"""Test many concurrent coroutines with cached results."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path

import larder


def test_coroutines_may_need_threads_of_the_loop(real: Path) -> None:
    @larder.memo
    async def upper(text: str) -> str:
        return await asyncio.to_thread(str.upper, text)

    async def many() -> list[str]:
        return list(await asyncio.gather(*[upper(f"a{i}") for i in range(60)]))

    assert asyncio.run(asyncio.wait_for(many(), 60)) == [f"A{i}" for i in range(60)]
    assert asyncio.run(many())[0] == "A0"
    assert upper.executions == 60


def test_coroutines_read_their_own_files(real: Path, tmp_path: Path) -> None:
    @larder.memo
    async def read(path: larder.File) -> str:
        await asyncio.sleep(0)
        return path.read_text() + await asyncio.to_thread(path.read_text)

    files = [larder.File(tmp_path / f"{i}.txt") for i in range(12)]
    for i, file in enumerate(files):
        file.write_text(str(i))

    async def many() -> list[str]:
        return list(await asyncio.gather(*map(read, files)))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert asyncio.run(many()) == [f"{i}{i}" for i in range(12)]
    assert all(read.cached(file) for file in files)
