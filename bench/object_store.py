"""What a write and a read cost in the stores, folder and S3, side by side in one run.

    python bench/object_store.py [--seconds 2]

S3 is moto on loopback, in a process of its own. moto is no S3: it keeps everything in memory, checks no signature, and
ends the connection after every answer. So its column says what our side and HTTP cost together, not how fast a bucket
is; there a request takes some ten milliseconds on the network alone. The folder's column ends on the disk (fsync).
"""

from __future__ import annotations

import argparse
import io
import itertools
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from rl_gym.infra.object_store import ObjectStore, open_store

SMALL, LARGE = b"x" * 1024, b"x" * (32 << 20)
MIB = 1 << 20

Work = Callable[[ObjectStore, Iterator[int]], None]

SMALL_WORK: dict[str, Work] = {
    "put": lambda store, number: store.put(f"put/{next(number) % 100}", SMALL) and None,
    "create": lambda store, number: store.create(f"create/{next(number)}", SMALL) and None,
    "get": lambda store, number: store.get(f"put/{next(number) % 10}").body and None,
    "exists": lambda store, number: store.exists(f"put/{next(number) % 10}") and None,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each measurement takes")
    seconds = parser.parse_args().seconds
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} cores, load before the run {load}, {seconds:g} s a measurement\n")
    with tempfile.TemporaryDirectory() as folder, moto() as endpoint:
        stores = {"folder": open_store(folder), "moto": open_store(f"s3://bench/store?endpoint={endpoint}")}
        print(f"{'':24}" + "".join(f"{name:>12}" for name in stores))
        for name, work in SMALL_WORK.items():
            row(f"{name} of 1 KiB, a second", [rate(store, work, seconds) for store in stores.values()])
        row("replace, a second", [replaced(store, seconds) for store in stores.values()])
        row("put of 32 MiB, MiB/s", [32 * rate(store, put_large, seconds) for store in stores.values()])
        row("open of 32 MiB, MiB/s", [32 * rate(store, read_large, seconds) for store in stores.values()])


def row(name: str, figures: list[float]) -> None:
    print(f"{name:24}" + "".join(f"{figure:12.0f}" for figure in figures), flush=True)


def rate(store: ObjectStore, work: Work, seconds: float) -> float:
    """How often a second it is done, in one thread."""
    number = itertools.count()
    work(store, number)
    began = time.perf_counter()
    done = 0
    while (taken := time.perf_counter() - began) < seconds:
        work(store, number)
        done += 1
    return done / taken


def replaced(store: ObjectStore, seconds: float) -> float:
    etag = store.put("pointer", b"0")

    def work(store: ObjectStore, number: Iterator[int]) -> None:
        nonlocal etag
        etag = store.replace("pointer", str(next(number)).encode(), etag)

    return rate(store, work, seconds)


def put_large(store: ObjectStore, number: Iterator[int]) -> None:
    store.put("large", io.BytesIO(LARGE))


def read_large(store: ObjectStore, number: Iterator[int]) -> None:
    with store.open("large") as stream:
        while stream.read(MIB):
            pass


@contextmanager
def moto() -> Iterator[str]:
    """The address of a server of its own, with a bucket `bench`."""
    os.environ.update(AWS_ACCESS_KEY_ID="bench", AWS_SECRET_ACCESS_KEY="bench", AWS_EC2_METADATA_DISABLED="true")
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=serve, args=(there,), daemon=True)
    process.start()
    try:
        if not here.poll(60):
            sys.exit("error: moto did not start within 60 s")
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def serve(there: Connection) -> None:
    from moto.backends import get_backend
    from moto.moto_server.threaded_moto_server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    server.start()
    get_backend("s3")["123456789012"]["aws"].create_bucket("bench", "us-east-1")
    host, port = server.get_host_and_port()
    there.send(f"http://{host}:{port}")
    time.sleep(3_600)


if __name__ == "__main__":
    main()
