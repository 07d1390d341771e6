"""What the policy service costs beside its engine, and what it makes of a real one.

    python bench/policy.py [--only overhead,vllm,speculation] [--model MODEL] [--requests N]

overhead     on a scripted engine that answers after a fixed time, 16 requests at once: the share of the engine's own
             throughput that comes out of POST /generate, and the time that policy and verifier add to a request.
vllm         on vLLM: 16 requests at once against one at a time, both through POST /generate, and against driving vLLM
             directly; and how much of the prompts its prefix cache knew already.
speculation  on vLLM: repair turns with and without prompt lookup: how many guesses were accepted, and the speed-up.

Everything is measured in this one run, on loopback; vLLM is that of .venv-vllm. `--model` names any hub model or local
folder; a packaged model by its name. Each part is bounded in time.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from rl_gym.gym.core import Episode
from rl_gym.iac.tasks.parametric import make_episode
from rl_gym.infra.errors import NotFoundError
from rl_gym.infra.tether import tethered
from rl_gym.serving.loop import prompts_of
from rl_gym.serving.weights import find_model

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("overhead", "vllm", "speculation")
AT_ONCE = 16
ENGINE_SECONDS = 0.5
MAX_TOKENS = 160
START_SECONDS = 300.0
GOAL_SHARE, GOAL_OVERHEAD_MS, GOAL_BATCHING = 0.9, 15.0, 4.0

ANSWER = 'resource "aws_sqs_queue" "jobs" {\n  name                    = "jobs"\n  sqs_managed_sse_enabled = true\n}\n'

VLLM_FLAGS = ("--dtype", "float32", "--enforce-eager", "--enable-prefix-caching", "--shutdown-timeout", "20")
LOOKUP = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4, "prompt_lookup_min": 2}

Ask = Callable[[int], Awaitable[object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="parts to run, separated by commas")
    parser.add_argument("--model", default="nano", help="model of vLLM: a packaged one, a hub name, or a folder")
    parser.add_argument("--requests", type=int, default=192, help="requests of each measurement")
    parser.add_argument("--serve-script", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_script:
        serve_script(options.serve_script)
        return
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} cores, load before the run {load}, {options.requests} requests a measurement")
    parts: dict[str, Callable[[], Awaitable[None]]] = {
        "overhead": lambda: bench_overhead(options.requests),
        "vllm": lambda: bench_vllm(options.model, options.requests),
        "speculation": lambda: bench_speculation(options.model, options.requests),
    }
    for name in options.only.split(","):
        if name not in parts:
            parser.error(f"there is no part {name!r}: choose among {', '.join(PARTS)}")
        print(f"\n== {name}")
        asyncio.run(parts[name]())  # type: ignore[arg-type]


# overhead


async def bench_overhead(requests: int) -> None:
    async with (
        script() as engine,
        policy(ENGINE="openai", ENGINE_URL=engine, ENGINE_API="chat") as address,
        client() as http,
    ):

        async def direct(number: int) -> object:
            return await post(http, f"{engine}/chat/completions", chat("scripted", f"queue {number}"))

        async def through(number: int) -> object:
            return await post(http, f"{address}/generate", asked(number, "pass@1"))

        await at_once(through, AT_ONCE)
        own = await at_once(direct, requests)
        served = await at_once(through, requests)
    share = served.rate / own.rate
    overhead = (served.median - own.median) * 1e3
    print(f"an engine that answers after {ENGINE_SECONDS * 1e3:.0f} ms, {AT_ONCE} requests at once, pass@1:")
    print(f"requests/s: {own.rate:.1f} of the engine alone, {served.rate:.1f} through policy and verifier: ", end="")
    print(f"{share:.1%} (goal {GOAL_SHARE:.0%})")
    print(f"median time: {own.median * 1e3:.1f} ms alone, {served.median * 1e3:.1f} ms through: ", end="")
    print(f"{overhead:+.1f} ms (goal {GOAL_OVERHEAD_MS:.0f}); p95 {(served.p95 - own.p95) * 1e3:+.1f} ms")


def serve_script(port: int) -> None:
    """The engine of a fixed latency: what vLLM's server would say, after a while, whatever it is asked."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    message = {"role": "assistant", "content": ANSWER}
    usage = {"prompt_tokens": 60, "completion_tokens": 40, "total_tokens": 100}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}

    async def models(request: Request) -> JSONResponse:
        return JSONResponse({"data": [{"id": "scripted"}]})

    async def complete(request: Request) -> JSONResponse:
        await request.body()
        await asyncio.sleep(ENGINE_SECONDS)
        return JSONResponse({"id": "x", "model": "scripted", "choices": [choice], "usage": usage})

    routes = [Route("/v1/models", models), Route("/v1/chat/completions", complete, methods=["POST"])]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="error")


# vllm


async def bench_vllm(model: str, requests: int) -> None:
    async with (
        vllm(model) as engine,
        policy(ENGINE="vllm", ENGINE_URL=engine, BASE="bench") as address,
        client() as http,
    ):
        api = await api_of(http, engine)

        async def through(number: int) -> object:
            return await post(http, f"{address}/generate", asked(number, "pass@1"))

        async def repairing(number: int) -> object:
            return await post(http, f"{address}/generate", asked(number, "pass@1+repair"))

        async def direct(number: int) -> object:
            return await complete_directly(http, engine, api, prompts_of("iac").prompt(episode(number)))

        await at_once(through, AT_ONCE)
        serial = await at_once(through, max(AT_ONCE, requests // 4), width=1)
        own = await at_once(direct, requests)
        served = await at_once(through, requests)
        before = await counters(http, engine)
        repaired = await at_once(repairing, requests)
        after = await counters(http, engine)
    print(f"{model}, pass@1, at most {MAX_TOKENS} tokens, requests/s:")
    print(f"{serial.rate:.2f} one at a time, {served.rate:.2f} with {AT_ONCE} at once: ", end="")
    print(f"{served.rate / serial.rate:.1f}x (goal {GOAL_BATCHING:.0f}x)")
    print(f"{own.rate:.2f} with {AT_ONCE} at once driving vLLM directly: policy and verifier keep ", end="")
    print(f"{served.rate / own.rate:.0%} of it")
    hits, asked_for = (after[name] - before[name] for name in ("prefix_cache_hits", "prefix_cache_queries"))
    print(f"with repair {repaired.rate:.2f}; ", end="")
    print(f"of {asked_for:.0f} prompt tokens the prefix cache knew {hits / asked_for:.0%}")


# speculation


async def bench_speculation(model: str, requests: int) -> None:
    plain, _ = await time_repairs(model, requests)
    fast, told = await time_repairs(model, requests, "--speculative-config", json.dumps(LOOKUP))
    guessed, accepted = (told.get(f"spec_decode_num_{name}_tokens", 0.0) for name in ("draft", "accepted"))
    print(f"{model}, repair turns, at most {MAX_TOKENS} tokens")
    print(f"prompt lookup guessed {guessed:.0f} tokens, {accepted / guessed if guessed else 0:.0%} were accepted")
    for how, before, after in zip(("one at a time", f"{AT_ONCE} at once"), plain, fast, strict=True):
        print(f"{how}: {before.rate:.2f} turns/s without, {after.rate:.2f} with: {after.rate / before.rate:.2f}x")


async def time_repairs(model: str, requests: int, *flags: str) -> tuple[tuple[Timed, Timed], dict[str, float]]:
    """Repair turns one at a time and many at once, and what vLLM counted meanwhile."""
    async with vllm(model, *flags) as engine, client() as http:
        api = await api_of(http, engine)

        async def direct(number: int) -> object:
            return await complete_directly(http, engine, api, repair_prompt(episode(number)))

        await at_once(direct, AT_ONCE)
        times = await at_once(direct, max(AT_ONCE, requests // 4), width=1), await at_once(direct, requests)
        return times, await counters(http, engine)


def repair_prompt(asked_for: Episode) -> str:
    """What a repair turn reads where the first answer built everything and protected nothing."""
    env: Any = prompts_of("iac")
    action = env.parse(env.random(asked_for), asked_for)
    return str(env.repair_prompt(asked_for, action.text, env.problems(action, asked_for), 600))


# measuring


class Timed:
    """Requests a second, and the times of single requests, in seconds."""

    def __init__(self, seconds: float, times: Sequence[float]) -> None:
        self.rate = len(times) / seconds
        self.median = statistics.median(times)
        self.p95 = statistics.quantiles(times, n=20)[-1]


_numbers = itertools.count()
"""Of requests, through all measurements: what one has put into a cache is no gain of the next."""


async def at_once(ask: Ask, requests: int, width: int = AT_ONCE) -> Timed:
    """Ask `requests` times, `width` at a time."""
    times: list[float] = []
    numbers = itertools.islice(_numbers, requests)

    async def work() -> None:
        for number in numbers:
            start = time.perf_counter()
            await ask(number)
            times.append(time.perf_counter() - start)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(width)))
    return Timed(time.perf_counter() - started, times)


def episode(number: int) -> Episode:
    return make_episode(number)


def asked(number: int, mode: str) -> dict[str, Any]:
    wanted = episode(number)
    return {"request": wanted.request, "required": wanted.data["required"], "mode": mode}


def chat(model: str, prompt: str) -> dict[str, Any]:
    return {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": MAX_TOKENS,
        "temperature": 0,
    }


async def api_of(http: httpx.AsyncClient, engine: str) -> str:
    """Whether the model has a chat template."""
    answer = await http.post(f"{engine}/chat/completions", json={**chat("bench", "x"), "max_tokens": 1})
    return "chat" if answer.is_success else "completions"


async def complete_directly(http: httpx.AsyncClient, engine: str, api: str, prompt: str) -> object:
    if api == "chat":
        return await post(http, f"{engine}/chat/completions", chat("bench", prompt))
    body = {"model": "bench", "prompt": prompt, "max_tokens": MAX_TOKENS, "temperature": 0}
    return await post(http, f"{engine}/completions", body)


async def post(http: httpx.AsyncClient, url: str, body: Mapping[str, Any]) -> object:
    answer = await http.post(url, json=body)
    if not answer.is_success:
        raise RuntimeError(f"POST {url}: {answer.status_code} {answer.text[:300]}")
    return answer.json()


async def counters(http: httpx.AsyncClient, engine: str) -> dict[str, float]:
    """vLLM's counters by name, without prefix and suffix."""
    text = (await http.get(f"{engine.removesuffix('/v1')}/metrics")).text
    found = re.findall(r"^vllm:(\w+)_total\{[^}]*\} ([0-9.e+]+)$", text, flags=re.MULTILINE)
    return {name: float(value) for name, value in found}


# servers


@asynccontextmanager
async def client() -> AsyncIterator[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=2 * AT_ONCE)
    async with httpx.AsyncClient(timeout=120, trust_env=False, limits=limits) as http:
        yield http


@asynccontextmanager
async def script() -> AsyncIterator[str]:
    port = free_port()
    command = [sys.executable, __file__, "--serve-script", str(port)]
    async with running(command, {}, f"http://127.0.0.1:{port}/v1/models"):
        yield f"http://127.0.0.1:{port}/v1"


@asynccontextmanager
async def vllm(model: str, *flags: str) -> AsyncIterator[str]:
    """vLLM on the CPU, the model under the name `bench`."""
    with suppress(NotFoundError):
        model = str(find_model(model))
    python = ROOT / ".venv-vllm" / "bin" / "python"
    if not python.exists():
        raise SystemExit("error: there is no .venv-vllm: `make vllm`")
    port = free_port()
    command = [str(python), "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--port", str(port)]
    command += ["--host", "127.0.0.1", "--served-model-name", "bench", *VLLM_FLAGS, *flags]
    settings = {
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": f"0-{(os.cpu_count() or 1) - 1}",
        "VLLM_LOGGING_LEVEL": "ERROR",
    }
    # At its end it lists what its bindings have leaked.
    async with running(command, settings, f"http://127.0.0.1:{port}/v1/models", quiet=True):
        yield f"http://127.0.0.1:{port}/v1"


@asynccontextmanager
async def policy(**settings: str) -> AsyncIterator[str]:
    port = free_port()
    ours = {
        "RL_GYM_POLICY_PORT": str(port),
        "RL_GYM_POLICY_MAX_TOKENS": str(MAX_TOKENS),
        "RL_GYM_VERIFIER_WORKERS": "1",
        "RL_GYM_LOG_LEVEL": "error",
        **{f"RL_GYM_POLICY_{name}": value for name, value in settings.items()},
    }
    async with running([sys.executable, "-m", "services.policy"], ours, f"http://127.0.0.1:{port}/readyz"):
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def running(
    command: Sequence[str], settings: Mapping[str, str], url: str, *, quiet: bool = False
) -> AsyncIterator[None]:
    """A server until the end of the block, from the moment that `url` answers; `quiet` hides what it complains of."""
    process = subprocess.Popen(
        tethered(command),
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if quiet else None,
    )
    try:
        async with httpx.AsyncClient(trust_env=False) as http:
            await wait_until(http, url, process)
        yield
    finally:
        process.terminate()
        process.wait(60)


async def wait_until(http: httpx.AsyncClient, url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if (await http.get(url, timeout=5)).is_success:
                return
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.2)
    raise RuntimeError(f"nothing answers at {url}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
