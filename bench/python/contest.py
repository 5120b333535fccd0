"""Run one contestant of one row once and print its figures as a line of JSON.

The only argument is a job as JSON, created by the runner. When everything is
imported, "ready" is printed and a line is awaited, so that several processes
start together and no interpreter start is timed.
"""

import dataclasses
import fcntl
import gc
import json
import logging
import os
import random
import sys
import time

import numpy as np

import work

os.environ["HF_HUB_OFFLINE"] = "1"
logging.disable(logging.WARNING)
now = time.perf_counter


# Tools: each wraps a function to cache its results in a directory.


def use_joblib(directory, f, **options):
    import joblib

    return joblib.Memory(directory, verbose=0, **options).cache(f)


def use_joblib_mmap(directory, f):
    return use_joblib(directory, f, mmap_mode="r")


def use_diskcache(directory, f):
    import diskcache

    return diskcache.Cache(directory).memoize()(f)


def use_diskcache_barrier(directory, f):
    import diskcache

    cache = diskcache.Cache(directory)
    return cache.memoize()(diskcache.barrier(cache, diskcache.Lock)(cache.memoize()(f)))


def use_evalcache(directory, f):
    import evalcache

    lazy = evalcache.Lazy(cache=directory)(f)
    return lambda k: lazy(k).unlazy()


def use_cachew(directory, f):
    import cachew

    cachew.settings.THROW_ON_ERROR = True
    os.makedirs(directory, exist_ok=True)
    return cachew.cachew(cache_path=lambda k: f"{directory}/{k}")(f)


def redun_scheduler(directory):
    from redun import Scheduler
    from redun.config import Config

    os.makedirs(directory, exist_ok=True)
    logging.getLogger("redun").setLevel(logging.ERROR)
    s = Scheduler(config=Config({"backend": {"db_uri": f"sqlite:///{directory}/redun.db"}}))
    with open(directory + "/lock", "w") as f:  # several processes must not create the database
        fcntl.flock(f, fcntl.LOCK_EX)
        s.load()
    return s


def redun_task(f):
    from redun import task

    return task(name=f.__name__, namespace="bench")(f)


def use_redun(directory, f):
    s, t = redun_scheduler(directory), redun_task(f)
    call = lambda k: s.run(t(k))
    call.all = lambda ks: s.run([t(k) for k in ks])
    return call


TOOLS = {
    "joblib": use_joblib,
    "joblib, mmap_mode r": use_joblib_mmap,
    "diskcache": use_diskcache,
    "diskcache, barrier": use_diskcache_barrier,
    "evalcache": use_evalcache,
    "cachew": use_cachew,
    "redun": use_redun,
}


# Rows


def go():
    print("ready", flush=True)
    sys.stdin.readline()


def everything(call, args):
    """Call with all arguments, in one call if the tool prefers that."""
    if hasattr(call, "all"):
        return call.all(args)
    return [call(a) for a in args]


def memo(job, f, args, touch=lambda v: v):
    call = TOOLS[job["contestant"]](job["dir"] + "/cache", f)
    go()
    begin = now()
    for v in everything(call, args):
        touch(v)
    first = (now() - begin) / len(args)
    if job["phase"] == "cold":
        return {"cold": first, "cold_executions": work.executions}
    calls, begin = 0, now()
    while calls == 0 or now() - begin < job["seconds"]:
        for v in everything(call, args):
            touch(v)
        calls += len(args)
    return {"warm": (now() - begin) / calls, "first": first, "executions": work.executions}


def hit(job):
    return memo(job, work.tiny, list(range(job["n"])))


def result(job):
    return memo(job, work.array, list(range(job["n"])), lambda a: a[::1024].sum())


def argument(job):
    args = [np.arange(1 << 17, dtype=np.float64) + k for k in range(job["n"])]
    return memo(job, work.total, args)


def stampede(job):
    call = TOOLS[job["contestant"].removesuffix(", only 20 keys")](job["dir"] + "/cache", work.busy)
    go()
    begin = now()
    everything(call, range(job["n"]))
    return {"seconds": now() - begin, "executions": work.executions}


@dataclasses.dataclass
class Settings:
    name: str
    size: int
    rate: float
    deep: bool


def key(job):
    def joblib():
        import joblib

        return joblib.hash

    def diskcache():
        import diskcache

        disk = diskcache.Cache(job["dir"] + "/cache").disk
        return lambda s: disk.put(diskcache.core.args_to_key(("f",), (s,), {}, False, ()))

    def evalcache():
        import evalcache

        f = evalcache.Lazy(cache={})(work.tiny)
        return lambda s: f(s).__lazyhash__

    def redun():
        from redun.value import get_type_registry

        return get_type_registry().get_hash

    def datasets():
        from datasets.fingerprint import Hasher

        return Hasher.hash

    name = locals()[job["contestant"].split()[0].lower()]()
    go()
    calls, begin = 0, now()
    while now() - begin < job["seconds"]:
        for i in range(100):
            name(Settings("resize", calls + i, 0.5, True))
        calls += 100
    return {"key": (now() - begin) / calls}


def chain(job):
    if "raised" in job["contestant"]:
        sys.setrecursionlimit(1_000_000)
    tool, n, directory = job["contestant"].split(",")[0], job["n"], job["dir"] + "/cache"
    if tool == "evalcache":
        import evalcache

        f = evalcache.Lazy(cache=directory)(work.tiny)
        finish = lambda v: v.unlazy()
    elif tool == "redun":
        s, f = redun_scheduler(job["dir"]), redun_task(work.tiny)
        finish = s.run
    else:
        f = TOOLS[tool](directory, work.tiny)
        finish = lambda v: v
    go()
    begin = now()
    v = 1
    for _ in range(n):
        v = f(v)
    v = finish(v)
    took = now() - begin
    assert v == n + 1, v
    if job["phase"] == "cold":
        return {"cold": took, "cold_executions": work.executions}
    return {"warm": took, "executions": work.executions}


def memory():
    """Return the private memory of this process and its mapped files, in bytes."""
    gc.collect()
    kinds = {}
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(("RssAnon", "RssFile")):
                kinds[line.split(":")[0]] = int(line.split()[1]) * 1024
    return {"anon": kinds["RssAnon"], "mapped": kinds["RssFile"]}


def store(job):
    import diskcache
    import hashlib

    rng = random.Random(1)
    block, n, size = rng.randbytes(1 << 20), job["n"], job["bytes"]
    options = {"sqlite_synchronous": 2} if job["row"] == "store-sync" else {}
    name = lambda i: hashlib.sha256(i.to_bytes(8, "little")).digest()

    def value(i):
        at = i * 4093 % ((1 << 20) - size)
        return i.to_bytes(8, "little") + block[at + 8 : at + size]

    go()
    begin = now()
    cache = diskcache.Cache(job["dir"] + "/cache", eviction_policy="none", size_limit=1 << 40, **options)
    if job["phase"] == "put":
        for i in range(n):
            cache.set(name(i), value(i))
        cache.close()
        return {"put": (now() - begin) / n}
    assert cache.get(name(0))[:8] == bytes(8)
    opened = now() - begin
    reads = [rng.randrange(n) for _ in range(n)]
    begin = now()
    for i in reads:
        assert cache.get(name(i))[:8] == i.to_bytes(8, "little")
    return {"open": opened, "get": (now() - begin) / n, **memory()}


def incremental(job):
    directory, images = job["dir"] + "/cache", job["data"]
    names = sorted(os.listdir(images))
    contents = lambda: (open(f"{images}/{n}", "rb").read() for n in names)
    tool = job["contestant"].split(",")[0]
    if tool == "joblib":
        f = use_joblib(directory, work.measure_bytes)
        run = lambda: [f(c) for c in contents()]
    elif tool == "diskcache":
        f = use_diskcache(directory, work.measure_bytes)
        run = lambda: [f(c) for c in contents()]
    elif tool == "redun":
        from redun import File, task

        @task(namespace="bench")
        def stats(file: File):
            return work.measure_bytes(file.read("rb"))

        s = redun_scheduler(job["dir"])
        run = lambda: s.run([stats(File(f"{images}/{n}")) for n in names])
    elif tool == "datasets":
        import datasets

        datasets.disable_progress_bars()

        def run():
            ds = datasets.load_dataset("imagefolder", data_dir=images, split="train", cache_dir=directory)
            out = ds.map(work.measure_sample, remove_columns=["image"])
            return [row for row in out]

    go()
    begin = now()
    rows = run()
    took = now() - begin
    assert len(rows) == len(names)
    return {job["phase"]: took, job["phase"] + "_executions": work.executions}


ROWS = {"store-sync": store}


def main():
    job = json.loads(sys.argv[1])
    row = ROWS.get(job["row"]) or globals()[job["row"]]
    try:
        figures = row(job)
    except (Exception, RecursionError) as e:
        lines = str(e).strip().splitlines() or [""]
        figures = {"error": f"{type(e).__name__}: {lines[0]}"}
    print(json.dumps(figures), flush=True)
    os._exit(0)  # redun's and datasets' threads are no longer needed


if __name__ == "__main__":
    main()
