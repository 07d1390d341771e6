"""How fast the verifier is, in process and as a service, and what harm a hostile batch does to its neighbours.

    python bench/verifier.py [--data FOLDER] [--only scan,service,memory,hostile] [--items N]

scan     parse, evaluate, schema and every rule of `base`, one core, over the corpora: median and 95th percentile; and
         how many times slower warm Checkov and the Checkov command line are on the same texts.
service  items a second of POST /score in batches of 64, two workers, cache off, against twice the in-process rate.
memory   the memory of all processes of the service while N items (100,000) are scored.
hostile  how much longer a neighbour's request takes while batches of hostile texts are scored.

Everything is measured in this one run, on loopback. Each part is bounded in time.
"""

from __future__ import annotations

import argparse
import csv
import http.client
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from rl_gym.gym.core import Episode, score_completion
from rl_gym.gym.registry import get_env
from rl_gym.iac.engines import ENGINES, get_engine
from rl_gym.iac.rules import get_ruleset
from rl_gym.iac.scan import scan

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("scan", "service", "memory", "hostile")
BATCH = 64
WORKERS = 2
CLIENTS = 3
REPEATS = 3
CHECKOV_TEXTS = 150
CHECKOV_RUNS = 3
SERVICE_SECONDS = 15.0
MEMORY_SECONDS = 400.0
NEIGHBOURS = 60
NEIGHBOUR_PAUSE_SECONDS = 0.05

GOAL_MEDIAN_MS, GOAL_P95_MS = 1.0, 5.0
GOAL_WARM, GOAL_COMMAND = 25, 3_000
GOAL_SHARE = 0.7
GOAL_DELAY_MS = 200.0

HOSTILE = {
    "count": 'resource "aws_s3_bucket" "b" {\n  count = 100000\n}\n',
    "doubling": "locals {\n  a0 = [1, 2]\n"
    + "".join(f"  a{n} = concat(local.a{n - 1}, local.a{n - 1})\n" for n in range(1, 40))
    + "}\n",
    "loops": "locals {\n  a = [for x in range(1000) : [for y in range(1000) : [for z in range(1000) : x * y]]]\n}\n",
    "format": 'locals {\n  a = format("%0999999999d", 1)\n}\n',
    "regex": 'locals {\n  a = replace("' + "a" * 30_000 + '", "/(a*)*(a*)*(a|aa)+$/", "b")\n}\n',
    "brackets": "locals {\n  a = " + "[" * 10_000 + "]" * 10_000 + "\n}\n",
    "additions": "locals {\n  a = 1" + "+1" * 32_000 + "\n}\n",
    "cycle": "locals {\n  a = local.b\n  b = local.a\n}\n",
    "crowd": "".join(f'resource "aws_s3_bucket" "b{n}" {{\n  bucket = "b{n}"\n}}\n' for n in range(1_000)),
    "policies": "".join(
        f'resource "aws_iam_policy" "p{n}" {{\n  policy = jsonencode({{ Statement = [for i in range(40) : '
        f'{{ Effect = "Allow", Action = "s3:*", Resource = "*" }}] }})\n}}\n'
        for n in range(400)
    ),
    "rules": 'resource "aws_security_group" "g" {\n'
    + "".join(
        f'  ingress {{\n    from_port = {n}\n    to_port = {n}\n    cidr_blocks = ["0.0.0.0/0"]\n  }}\n'
        for n in range(600)
    )
    + "}\n",
}
"""Every bound on reading, evaluating and judging, a text each."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("RL_GYM_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with the public corpora")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, separated by commas")
    parser.add_argument("--items", type=int, default=100_000, help="items of the part memory")
    options = parser.parse_args()
    texts = list(corpus(options.data))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{len(texts)} configurations, {os.cpu_count()} cores, load before the run {load}")
    parts: dict[str, Callable[[], None]] = {
        "scan": lambda: bench_scan(texts),
        "service": lambda: bench_service(texts),
        "memory": lambda: bench_memory(texts, options.items),
        "hostile": lambda: bench_hostile(texts),
    }
    for name in options.only.split(","):
        print(f"\n== {name}")
        parts[name]()


def corpus(folder: Path) -> Iterator[str]:
    csv.field_size_limit(sys.maxsize)
    with open(folder / "iac_eval.csv", newline="") as stream:
        yield from (row["Reference output"] + "\n" for row in csv.DictReader(stream))
    for name in ("checkov_tf.jsonl", "github_tf.jsonl"):
        for line in (folder / name).read_text().splitlines():
            if text := json.loads(line)["hcl"]:
                yield text + "\n"


# scan


def bench_scan(texts: Sequence[str]) -> None:
    ruleset = get_ruleset("base")
    times = [best(lambda text=text: scan(text, ruleset=ruleset)) for text in texts]  # type: ignore[misc]
    median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    print(f"scan, {len(ruleset.rules)} rules and schema: median {median:.3f} ms (goal {GOAL_MEDIAN_MS}), ", end="")
    print(f"p95 {p95:.3f} ms (goal {GOAL_P95_MS})")
    sample = range(0, len(texts), max(1, len(texts) // CHECKOV_TEXTS))
    beside_checkov([texts[index] for index in sample], [times[index] for index in sample])


def best(action: Callable[[], object]) -> float:
    """The shortest of some runs, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def beside_checkov(texts: Sequence[str], ours: Sequence[float]) -> None:
    if "checkov" not in ENGINES:
        print("not measured: there is no engine checkov")
        return
    engine = get_engine("checkov")
    health = engine.health()
    if health.status != "answered":
        print(f"not measured: {health.detail}")
        return
    try:
        tuned = [best(lambda text=text: engine.scan({"main.tf": text})) for text in texts]  # type: ignore[misc]
    finally:
        engine.close()
    print_ratio(f"warm Checkov {health.version} as it comes", as_it_comes(texts), ours, f"; goal {GOAL_WARM}")
    print_ratio("warm Checkov as our engine runs it", tuned, ours)
    beside_the_command_line(texts, ours)


def print_ratio(name: str, theirs: Sequence[float], ours: Sequence[float], goal: str = "") -> None:
    ratio = statistics.median(their / our for their, our in zip(theirs, ours, strict=True))
    print(f"{name}, {len(theirs)} texts: median {statistics.median(theirs):.1f} ms, ", end="")
    print(f"{ratio:.0f} times ours (median of the ratios{goal})")


AS_IT_COMES = """
import json, logging, sys, tempfile, time
from pathlib import Path
logging.disable(logging.CRITICAL)
from checkov.runner_filter import RunnerFilter
from checkov.terraform.runner import Runner

def run(text):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "main.tf").write_text(text)
        start = time.perf_counter()
        Runner().run(root_folder=folder, runner_filter=RunnerFilter(framework=["terraform"]))
        return (time.perf_counter() - start) * 1e3

out, sys.stdout = sys.stdout, sys.stderr
repeats, texts = json.load(sys.stdin)
run(texts[0])
json.dump([min(run(text) for _ in range(repeats)) for text in texts], out)
"""


def as_it_comes(texts: Sequence[str]) -> list[float]:
    """Milliseconds of Checkov's own runner in one warm process, without what our engine changes in it."""
    python = ROOT / ".venv-checkov" / "bin" / "python"
    command = [str(python), "-W", "ignore", "-c", AS_IT_COMES]
    said = subprocess.run(command, input=json.dumps([REPEATS, texts]), capture_output=True, text=True, timeout=300)
    times: list[float] = json.loads(said.stdout)
    return times


def beside_the_command_line(texts: Sequence[str], ours: Sequence[float]) -> None:
    command = ROOT / ".venv-checkov" / "bin" / "checkov"
    if not command.exists():
        print(f"not measured: no {command.relative_to(ROOT)} (`make checkov`)")
        return
    ratios = []
    for text, our in list(zip(texts, ours, strict=True))[:: max(1, len(texts) // CHECKOV_RUNS)][:CHECKOV_RUNS]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "main.tf"
            path.write_text(text)
            start = time.perf_counter()
            arguments = [str(command), "-f", str(path), "-o", "json", "--compact", "--quiet", "--skip-download"]
            subprocess.run(arguments, capture_output=True, timeout=120, check=False)
            ratios.append((time.perf_counter() - start) * 1e3 / our)
    print(f"the Checkov command line, {len(ratios)} texts: {statistics.median(ratios):.0f} times ours ", end="")
    print(f"(median of the ratios; goal {GOAL_COMMAND})")


# service


def items_of(texts: Sequence[str]) -> list[dict[str, object]]:
    """Completions of the corpora that a model could have written, as items of POST /score."""
    return [
        {"episode": {"id": str(index), "request": "as it stands"}, "completion": f"```hcl\n{text}```\n"}
        for index, text in enumerate(texts)
        if len(text) < 20_000
    ]


def bodies_of(items: Sequence[dict[str, object]]) -> list[bytes]:
    batches = [items[start : start + BATCH] for start in range(0, len(items) - BATCH + 1, BATCH)]
    return [json.dumps({"items": batch}).encode() for batch in batches]


def bench_service(texts: Sequence[str]) -> None:
    items = items_of(texts)
    in_process(items)
    before = in_process(items), in_processes(items)
    with served(cache=False) as port:
        bodies = bodies_of(items)
        post_for(port, bodies, 3)
        service = listener(port)
        spent, start = processor_seconds(service), time.perf_counter()
        done = post_for(port, bodies, SERVICE_SECONDS)
        http_rate = done / (time.perf_counter() - start)
        service_cpu = (processor_seconds(service) - spent) / done
    after = in_process(items), in_processes(items)
    rate, cpu = (statistics.mean(pair) for pair in zip(before[0], after[0], strict=True))
    together = statistics.mean((before[1], after[1]))
    print(
        f"items/s: {rate:.0f} in process on one core, {together:.0f} in {WORKERS} such processes at once (both before ",
        end="",
    )
    print(f"and after), {http_rate:.0f} by POST /score with the client on the same cores")
    print(
        f"{http_rate / (WORKERS * rate):.0%} of {WORKERS} times the in-process rate (goal {GOAL_SHARE:.0%}), ", end=""
    )
    print(f"{http_rate / together:.0%} of what {WORKERS} processes reach at once")
    print(
        f"processor time an item: {cpu * 1e3:.3f} ms in process, {service_cpu * 1e3:.3f} ms in all processes of ",
        end="",
    )
    print(f"the service: {cpu / service_cpu:.0%} of its work is the judging itself")


def in_processes(items: Sequence[dict[str, object]]) -> float:
    """Items a second of as many processes as there are workers, all at once: what the machine has to give."""
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        list(pool.map(in_process, [items[:100]] * WORKERS))
        return sum(rate for rate, _ in pool.map(in_process, [items] * WORKERS))


def in_process(items: Sequence[dict[str, object]]) -> tuple[float, float]:
    """Items a second on one core, and seconds of processor time an item."""
    env = get_env("iac")
    pairs = [(str(item["completion"]), Episode("e", "as it stands")) for item in items]
    score_completion(env, *pairs[0])
    start, cpu = time.perf_counter(), time.process_time()
    for completion, episode in pairs:
        score_completion(env, completion, episode)
    return len(pairs) / (time.perf_counter() - start), (time.process_time() - cpu) / len(pairs)


def post_for(port: int, bodies: Sequence[bytes], seconds: float) -> int:
    """Post batches from a few clients at once for so long; how many items were answered."""
    end = time.perf_counter() + seconds
    feed = itertools.cycle(bodies)
    lock = threading.Lock()
    done = 0

    def client() -> None:
        nonlocal done
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.perf_counter() < end:
            with lock:
                body = next(feed)
            post(connection, body)
            with lock:
                done += BATCH

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def post(connection: http.client.HTTPConnection, body: bytes) -> bytes:
    connection.request("POST", "/score", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    if response.status != 200:
        raise SystemExit(f"POST /score: {response.status} {answer[:300].decode()}")
    return answer


@contextmanager
def served(cache: bool) -> Iterator[int]:
    """The service on a free port of this machine, with `WORKERS` workers that are up."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "RL_GYM_VERIFIER_PORT": str(port),
        "RL_GYM_VERIFIER_WORKERS": str(WORKERS),
        "RL_GYM_VERIFIER_ENGINES": "builtin",
        "RL_GYM_LOG_LEVEL": "error",
        **({} if cache else {"RL_GYM_VERIFIER_CACHE_ENTRIES": "0"}),
    }
    process = subprocess.Popen([sys.executable, "-m", "services.verifier"], cwd=ROOT, env={**os.environ, **settings})
    try:
        wait_until_ready(port)
        yield port
    finally:
        process.terminate()
        process.wait(40)


def wait_until_ready(port: int) -> None:
    for _ in range(300):
        time.sleep(0.2)
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            workers = json.loads(connection.getresponse().read())["workers"]
        except (OSError, ValueError):
            continue
        if workers["score"] > WORKERS:
            return
    raise SystemExit("the service did not come up within a minute")


# memory


def bench_memory(texts: Sequence[str], items: int) -> None:
    small = [item for item in items_of(texts) if len(str(item["completion"])) < 800]
    fresh = itertools.count()
    with served(cache=True) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        service = listener(port)
        steps = 10
        start = time.perf_counter()
        print("items scored, resident MiB of the service, of all its workers")
        for step in range(steps + 1):
            ours, workers = memory_mib(service)
            print(f"{step * items // steps:8}  {ours:6.0f}  {workers:6.0f}")
            if step == steps or time.perf_counter() - start > MEMORY_SECONDS:
                break
            for _ in range(items // steps // BATCH):
                # Another id makes another item: the cache fills up to its bound.
                batch = [
                    {**small[next(fresh) % len(small)], "episode": {"id": str(next(fresh)), "request": "as it stands"}}
                    for _ in range(BATCH)
                ]
                post(connection, json.dumps({"items": batch}).encode())


def listener(port: int) -> int:
    """The process that listens on a port of this machine."""
    wanted = f"0100007F:{port:04X}"
    inode = next(
        line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines() if line.split()[1] == wanted
    )
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if any(os.readlink(one) == f"socket:[{inode}]" for one in (folder / "fd").iterdir()):
                return int(folder.name)
        except OSError:
            continue
    raise SystemExit(f"nobody listens on port {port}")


def memory_mib(process: int) -> tuple[float, float]:
    """Resident memory of a process, and of its children together."""
    return resident_mib(process), sum(resident_mib(child) for child in children(process))


def processor_seconds(process: int) -> float:
    """Processor time of a process and of its children that are alive."""
    return sum(_ticks(one) for one in (process, *children(process))) / os.sysconf("SC_CLK_TCK")


def _ticks(process: int) -> int:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def resident_mib(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


# hostile


def bench_hostile(texts: Sequence[str]) -> None:
    hostile = list(HOSTILE.values())
    for name, text in HOSTILE.items():
        start = time.process_time()
        scan(text)
        print(f"  {name:10} {(time.process_time() - start) * 1e3:7.1f} ms of processor time, in process")
    batch = [
        {"episode": {"id": "h", "request": "harm"}, "completion": hostile[index % len(hostile)]}
        for index in range(BATCH)
    ]
    neighbour = json.dumps({"items": [items_of(texts)[0]]}).encode()
    with served(cache=False) as port:
        alone = latencies(port, neighbour)
        stop = threading.Event()
        body = json.dumps({"items": batch}).encode()

        def attack() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            while not stop.is_set():
                post(connection, body)

        attackers = [threading.Thread(target=attack) for _ in range(2)]
        for attacker in attackers:
            attacker.start()
        time.sleep(0.5)
        beside = latencies(port, neighbour)
        stop.set()
        for attacker in attackers:
            attacker.join()
    middle = statistics.median(alone)
    delays = [time - middle for time in beside]
    late = statistics.quantiles(delays, n=20)[-1]
    print(f"a request of one item, alone: {middle:.1f} ms in the median, {max(alone):.1f} ms at most")
    print(f"beside two clients that post hostile batches of {BATCH} without a pause it is delayed by ", end="")
    print(
        f"{statistics.median(delays):.0f} ms in the median, {late:.0f} ms in 19 of 20, {max(delays):.0f} ms at most, ",
        end="",
    )
    print(f"of {len(beside)} (goal {GOAL_DELAY_MS:.0f} ms)")


def latencies(port: int, body: bytes) -> list[float]:
    """How long requests of a neighbour take, one after another, in milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = []
    for _ in range(NEIGHBOURS):
        start = time.perf_counter()
        post(connection, body)
        times.append((time.perf_counter() - start) * 1e3)
        time.sleep(NEIGHBOUR_PAUSE_SECONDS)
    return times


if __name__ == "__main__":
    main()
