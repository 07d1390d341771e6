"""From the last lines of a server to one line for people: lines as vLLM 0.32 prints them."""

from __future__ import annotations

import pytest

from services.policy.supervision.diagnosis import diagnose

TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in main\n    raise ValueError(\n'
WORKER = "(Worker pid=7) ERROR 11-30 05:57:07 [multiproc_executor.py:1063] "
CORE = "(EngineCore pid=6) ERROR 11-30 05:57:07 [core.py:1510] "
GENERIC = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n"


@pytest.mark.parametrize(
    ("lines", "cause", "said"),
    [
        (
            f"{TRACEBACK}pydantic_core._pydantic_core.ValidationError: 1 validation error for VllmConfig\n"
            "  Value error, torch.float32 is not supported for fp8. [type=value_error, input_value=Args(()), x]\n"
            "    For further information visit https://errors.pydantic.dev/2.14/v/value_error\n",
            "other",
            "ended with code 1: Value error, torch.float32 is not supported for fp8.",
        ),
        (
            "usage: api_server.py [-h]\napi_server.py: error: unrecognized arguments: --no-such-flag\n",
            "other",
            "ended with code 1: api_server.py: error: unrecognized arguments: --no-such-flag",
        ),
        (
            f"{WORKER}Traceback (most recent call last):\n"
            f"{WORKER}ValueError: Available memory on node 0 is less than requested memory for kv (100.0 GiB).\n"
            f"{CORE}RuntimeError: Worker failed with error 'Available memory'\n{TRACEBACK}{GENERIC}",
            "memory",
            "memory on node 0 is less than requested memory for kv (100.0 GiB).; lower VLLM_CPU_KVCACHE_SPACE",
        ),
        (
            f"{CORE}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n{TRACEBACK}{GENERIC}",
            "memory",
            "lower gpu-memory-utilization, or lower max-num-seqs or max-model-len",
        ),
        (
            f"{CORE}ValueError: To serve at least one request with the model's max seq len (131072), 16.0 GiB KV "
            f"cache is needed, which is larger than the available KV cache memory (3.1 GiB).\n{GENERIC}",
            "memory",
            "lower max-model-len",
        ),
        ("/python: Error while finding module: No module named 'vllm'\n", "setup", "there is no vLLM in this Python"),
        (
            f"{TRACEBACK}huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot\n",
            "setup",
            "the model is not on this machine",
        ),
        ("INFO all is well\n", "other", "ended with code 1, without a word"),
        ("", "other", "ended with code 1, without a word"),
    ],
)
def test_the_root_is_told_and_what_helps(lines: str, cause: str, said: str) -> None:
    trouble = diagnose("ended with code 1", lines.splitlines())
    assert trouble.cause == cause
    assert said in trouble.text
    assert "Engine core initialization" not in trouble.text


def test_where_only_the_consequence_was_printed_it_is_told() -> None:
    assert "Engine core initialization failed" in diagnose("ended with code 1", GENERIC.splitlines()).text


@pytest.mark.parametrize("before", ["INFO all is well", "ValueError: LoRA rank 128 is greater than max_lora_rank 64."])
def test_a_kill_may_have_been_the_kernels_and_is_no_matter_of_what_was_said_before(before: str) -> None:
    trouble = diagnose("killed by SIGKILL", [before])
    assert trouble.text == "killed by SIGKILL, by somebody or by the kernel for want of memory"


def test_it_is_one_line_of_bounded_length() -> None:
    trouble = diagnose("ended with code 1", [f"ValueError: {'x' * 10_000}\x1b[0m\x00"])
    assert len(trouble.text) < 400
    assert trouble.text.isprintable()
