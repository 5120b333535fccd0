"""Describe the machine and the measured software."""

from __future__ import annotations

import ctypes.util
import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

PACKAGES = [
    "torch",
    "torchvision",
    "torchdata",
    "spdl",
    "webdataset",
    "litdata",
    "mosaicml-streaming",
    "pillow",
    "numpy",
]


def about(python: str, clone: Path) -> dict[str, Any]:
    """Return the machine, the versions of the measured software, and the load."""
    code = f"""
import importlib.metadata as m
for p in {PACKAGES}:
    try: print(p, m.version(p))
    except m.PackageNotFoundError: print(p, "not installed")"""
    versions = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=clone, capture_output=True, text=True)
    go = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True)
    return {
        "processor": processor(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / (1 << 30):.1f} GiB",
        "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}",
        "python": platform.python_version(),
        "go": go.stdout.strip(),
        "larder": commit.stdout.strip() + (", with libjpeg-turbo" if ctypes.util.find_library("turbojpeg") else ""),
        "versions": [line for line in versions if line],
        "load": " ".join(f"{n:.2f}" for n in os.getloadavg()),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "began": time.monotonic(),
    }


def processor() -> str:
    with open("/proc/cpuinfo") as file:
        name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    return f"{name}, {os.cpu_count()} processors"


def imports(python: str, environment: dict[str, str]) -> dict[str, dict[str, float]]:
    """Return the import time of each module, the minimum of some tries."""
    least = {code: min(started(python, code, environment) for _ in range(5)) for code in ["pass", *MODULES]}
    return {code.removeprefix("import "): {"time": least[code] - least["pass"]} for code in MODULES}


MODULES = [
    f"import {name}"
    for name in ["larder", "numpy", "torch", "torch.utils.data", "spdl.pipeline", "webdataset", "litdata", "streaming"]
]


def started(python: str, code: str, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run([python, "-c", code], env=environment, capture_output=True, check=True)
    return time.perf_counter() - began
