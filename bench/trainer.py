"""What rewards over HTTP cost a GRPO step, how long a training takes to its first one, and how fast TRL generates.

    python bench/trainer.py [--steps N] [--preset nano] [--model nano] [--set KEY=VALUE]

Two trainings of one seed, one judged by a verifier service on this machine and one in its own process, take their steps
in turn, each step in both before the next and neither always first; the other one waits meanwhile. They generate the
same tokens (it is checked), so a step is compared with the very same step. Beside each step the prompts that TRL has
just answered are answered by `generate` of Hugging Face, on the same model without trainer and adapter.

The first step of each is a warm-up: it counts for the time from the start of the process to its end alone.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import InfrastructureError, RlGymError
from rl_gym.infra.tether import tethered
from rl_gym.serving.weights import find_model
from rl_gym.training import supervise
from rl_gym.training.rewards import verifier_job

ROOT = Path(__file__).resolve().parents[1]
GOAL_SHARE, GOAL_RATIO, GOAL_START_SECONDS = 0.05, 1.05, 25.0
STEP_SECONDS = 600.0
UP_SECONDS = 90.0
TOLD = "bench"
"""What the children call their measurements among other reports."""


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        raise SystemExit(train(sys.argv[2:]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="nano")
    parser.add_argument("--model", default="nano", help="what is trained: a packaged model, or a folder")
    parser.add_argument("--steps", type=int, default=16, help="GRPO steps of each training, the warm-up included")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="keys of the preset to change")
    chosen = parser.parse_args()
    if chosen.steps < 2:
        parser.error("--steps must be 2 or more: the first one is a warm-up")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} cores, load before the run {load}; {chosen.preset}, {chosen.steps} steps", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            measured = measure(Path(folder), chosen.preset, chosen.model, chosen.steps, chosen.set)
        except RlGymError as error:
            raise SystemExit(f"error: {error}") from None
    for line in told(*measured):
        print(line)


@dataclass(frozen=True, slots=True)
class Step:
    """One GRPO step, in seconds; `plain` is the generation by Hugging Face alone, 0 where there was none."""

    seconds: float
    rewards: float
    generation: float
    tokens: int
    plain: float = 0.0
    plain_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Training:
    """Steps after the first one, and the seconds from the start of the process to the end of the first one."""

    start_seconds: float
    steps: Sequence[Step]


# measuring


def measure(folder: Path, preset: str, model: str, steps: int, changes: Sequence[str]) -> tuple[Training, Training]:
    """Over HTTP, and in process."""
    run = folder / "run"
    changes = [*changes, f"grpo.steps={steps}", f"grpo.save_steps={steps}"]
    command = ["pipeline", "--preset", preset, "--run", str(run), "--until", "prepare"]
    prepare = [sys.executable, "-m", "rl_gym.cli.main", *command, *(f"--set={change}" for change in changes)]
    if subprocess.run(prepare, stdout=subprocess.DEVNULL).returncode:
        raise SystemExit(f"error: {' '.join(command)} failed")
    config = json.loads((run / "run.json").read_text())["config"]
    weights = find_model(model)
    job = {
        "kind": "grpo",
        "section": "grpo",
        "name": "grpo",
        "model": str(weights),
        "inputs": {"model": tree_digest(weights)},
        "data": str(run / "prepare" / "grpo.jsonl"),
        "config": config,
    }
    supervise.CHILD = (str(Path(__file__).resolve()), "--child")
    with verifier() as address:
        both = [
            Child(folder / "http", {**job, "verifier": verifier_job(address)}),
            Child(folder / "in_process", {**job, "plain": True}),
        ]
        try:
            starts = [child.start() for child in both]
            taken: list[list[Step]] = [[], []]
            for number in range(1, steps):
                for which in (0, 1) if number % 2 else (1, 0):
                    taken[which].append(both[which].step())
            for child in both:
                child.end()
        finally:
            for child in both:
                child.stop()
    if [step.tokens for step in taken[0]] != [step.tokens for step in taken[1]]:
        raise SystemExit("error: the two trainings generated different tokens: their steps cannot be compared")
    return Training(starts[0], taken[0]), Training(starts[1], taken[1])


class Child:
    """A training that takes a step when it is told to. Who makes one stops it, or its process waits for ever."""

    def __init__(self, folder: Path, job: Mapping[str, Any]) -> None:
        folder.mkdir()
        self._pace = folder / "pace"
        os.mkfifo(self._pace)
        # Open at both ends from here on: neither side waits for the other one to open it.
        self._steps = os.open(self._pace, os.O_RDWR)
        self._job = {**job, "output": str(folder), "pace": str(self._pace)}
        self._folder = folder
        self._heard: queue.Queue[Mapping[str, Any] | Exception | None] = queue.Queue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> float:
        """Take the first step; the seconds to its end, from nothing."""
        begun = time.perf_counter()
        self._thread.start()
        self.step()
        return time.perf_counter() - begun

    def step(self) -> Step:
        os.write(self._steps, b".")
        while True:
            message = self._next()
            if message is None:
                raise SystemExit("error: the training ended before its steps were taken")
            if message.get("job") == TOLD:
                return Step(**{**message["metrics"], "tokens": int(message["metrics"]["tokens"])})

    def end(self) -> None:
        """Let the training end by itself, after its last step."""
        os.write(self._steps, b".")
        while self._next() is not None:
            continue

    def stop(self) -> None:
        """End the training now, if it is still at work, and wait until its process is gone."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        os.close(self._steps)

    def _next(self) -> Mapping[str, Any] | None:
        try:
            message = self._heard.get(timeout=STEP_SECONDS)
        except queue.Empty:
            name = self._folder.name
            raise SystemExit(f"error: the training {name} took no step within {STEP_SECONDS:g} s") from None
        if isinstance(message, Exception):
            raise SystemExit(f"error: {message}")
        return message

    def _run(self) -> None:
        try:
            path, log = self._folder / "job.json", self._folder / "log.txt"
            job = [(path, self._job)]
            supervise.run_jobs(job, log=log, threads=1, report=self._heard.put, check=self._check)
            self._heard.put(None)
        except Exception as error:
            self._heard.put(error)

    def _check(self) -> None:
        if self._stopping.is_set():
            raise InfrastructureError("the training was stopped")


@contextmanager
def verifier() -> Iterator[str]:
    """A verifier on a free port of this machine, from the moment that it is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    settings = {
        "RL_GYM_VERIFIER_PORT": address.rpartition(":")[2],
        "RL_GYM_VERIFIER_ENGINES": "builtin",
        "RL_GYM_LOG_LEVEL": "error",
    }
    command = tethered([sys.executable, "-m", "services.verifier"])
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **settings}, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + UP_SECONDS
        while not is_ready(address):
            if time.monotonic() > end or process.poll() is not None:
                raise SystemExit(f"error: no verifier came up at {address}")
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(60)


def is_ready(address: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


# within a child


def train(arguments: list[str]) -> int:
    """What the training child does, with a clock at the trainer's steps, rewards and generations."""
    from trl import GRPOTrainer

    from rl_gym.training import child

    job = json.loads(Path(arguments[0]).read_text())
    clock = Clock(job)
    judge, generate = GRPOTrainer._calculate_rewards, GRPOTrainer._generate_single_turn

    def timed_judge(self: Any, *rest: Any) -> Any:
        with clock.taking("rewards"):
            return judge(self, *rest)

    def timed_generate(self: Any, prompts: Any, *rest: Any, **options: Any) -> Any:
        with clock.taking("generation"):
            answer = generate(self, prompts, *rest, **options)
        clock.generated(self, prompts, answer[0])
        return answer

    def resumed(self: child.Channel, job: str, step: int) -> None:
        clock.wait()

    def progress(self: child.Channel, job: str, done: float, total: float) -> None:
        self.metrics(TOLD, int(done), clock.lap())
        clock.wait()

    GRPOTrainer._calculate_rewards, GRPOTrainer._generate_single_turn = timed_judge, timed_generate
    child.Channel.resumed = resumed  # type: ignore[method-assign]
    child.Channel.progress = progress  # type: ignore[method-assign]
    return child.main(arguments)


class Clock:
    """Seconds of a step and its parts; it stands while the step is not ours to take."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self._pace = os.open(job["pace"], os.O_RDONLY)
        self._plain = Plain(job["model"]) if job.get("plain") else None
        self._spent = dict.fromkeys(("rewards", "generation", "tokens"), 0.0)
        self._begun = time.perf_counter()

    def wait(self) -> None:
        """Until the next step may be taken."""
        os.read(self._pace, 1)
        self._begun = time.perf_counter()

    @contextmanager
    def taking(self, part: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self._spent[part] += time.perf_counter() - begun

    def generated(self, trainer: Any, prompts: Sequence[Sequence[int]], completions: Sequence[Sequence[int]]) -> None:
        self._spent["tokens"] += sum(len(one) for one in completions)
        if self._plain is not None:
            self._plain.remember(trainer, prompts)

    def lap(self) -> dict[str, float]:
        """The step that has just ended; the plain generation comes after the clock has stopped."""
        seconds = time.perf_counter() - self._begun
        lap = {"seconds": seconds, **self._spent}
        self._spent = dict.fromkeys(self._spent, 0.0)
        return lap | self._plain.generate() if self._plain is not None else lap


class Plain:
    """The model by itself, asked what the trainer was asked last."""

    def __init__(self, folder: str) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        self._model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True).eval()
        self._asked: list[tuple[Any, Sequence[Sequence[int]]]] = []

    def remember(self, trainer: Any, prompts: Sequence[Sequence[int]]) -> None:
        self._asked.append((trainer, prompts))

    def generate(self) -> dict[str, float]:
        import torch

        seconds, tokens = 0.0, 0
        with torch.random.fork_rng(), torch.no_grad():
            for trainer, prompts in self._asked:
                begun = time.perf_counter()
                config = trainer.generation_config
                longest = max(len(one) for one in prompts)
                ids = torch.tensor([[config.pad_token_id] * (longest - len(one)) + list(one) for one in prompts])
                mask = torch.tensor([[0] * (longest - len(one)) + [1] * len(one) for one in prompts])
                answer = self._model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
                seconds += time.perf_counter() - begun
                ended = torch.isin(answer[:, longest:], torch.tensor(config.eos_token_id)).int()
                # All up to the first end, and that one.
                tokens += int((ended.cumsum(1) - ended == 0).sum())
        self._asked.clear()
        return {"plain": seconds, "plain_tokens": float(tokens)}


# telling


def told(http: Training, in_process: Training) -> Iterator[str]:
    """The figures side by side, a line each."""
    pairs = list(zip(http.steps, in_process.steps, strict=True))
    yield f"GRPO step, {len(pairs)} steps of each, the same tokens in both; minimum / median / maximum"
    yield f"  rewards over HTTP        {spread([step.seconds for step in http.steps])} s"
    yield f"  rewards in process       {spread([step.seconds for step in in_process.steps])} s"
    ratio = [one.seconds / other.seconds for one, other in pairs]
    yield f"  HTTP / in process        {spread(ratio)} (goal: median {GOAL_RATIO})"
    for name, training in (("over HTTP", http), ("in process", in_process)):
        share = [100 * step.rewards / step.seconds for step in training.steps]
        goal = f" (goal: median {GOAL_SHARE:.0%})" if training is http else ""
        yield f"  share of rewards {name:<11}{spread(share)} %{goal}"
    yield f"start to the end of the first step, n 1 each (goal {GOAL_START_SECONDS:.0f} s)"
    yield f"  over HTTP {http.start_seconds:.1f} s, in process {in_process.start_seconds:.1f} s"
    yield f"generation, {len(pairs)} batches of the same prompts; tokens/s, minimum / median / maximum"
    trl = [step.tokens / step.generation for step in in_process.steps]
    plain = [step.plain_tokens / step.plain for step in in_process.steps]
    yield f"  GRPO by TRL              {spread(trl)}"
    yield f"  Hugging Face generate    {spread(plain)}"
    yield f"  TRL / Hugging Face       {spread([one / other for one, other in zip(trl, plain, strict=True)])}"


def spread(values: Sequence[float]) -> str:
    digits = 0 if min(values) >= 100 else 3
    return " / ".join(f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))


if __name__ == "__main__":
    main()
