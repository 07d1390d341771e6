"""Flags in, command lines out; what is tried first, and what after it."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from rl_gym.infra.errors import UsageError
from services.policy.supervision.ladder import EngineFlags, ladder, read_flags


class TestFlags:
    def test_what_is_written_is_what_is_passed(self) -> None:
        text = (
            "--dtype float32 --max_num_seqs=64 --no-enable-prefix-caching --enforce-eager --gpu-memory-utilization 0.5"
        )
        flags = replace(read_flags(text), model="m")
        assert (flags.dtype, flags.max_num_seqs, flags.gpu_memory_utilization) == ("float32", 64, 0.5)
        assert flags.arguments() == [
            *("--model", "m", "--dtype", "float32", "--enforce-eager", "--no-enable-prefix-caching"),
            *("--gpu-memory-utilization", "0.5", "--max-num-seqs", "64", "--logprobs-mode", "processed_logprobs"),
        ]

    def test_unknown_flags_are_passed_on_untouched(self) -> None:
        words = ["--compilation-config.a_b", "3", "-O2", "--seed=-1", "--allowed-origins", '["x y"]', "-tp", "2"]
        flags = read_flags("--compilation-config.a_b 3 -O2 --seed=-1 --allowed-origins '[\"x y\"]' -tp 2")
        assert flags.extra == tuple(words[:-2])
        assert flags.tensor_parallel_size == 2

    def test_short_names_mean_the_same(self) -> None:
        assert read_flags("-q awq -tp 2 -dp 3") == read_flags(
            "--quantization awq --tensor-parallel-size 2 --data-parallel-size 3"
        )

    def test_no_flags_leave_all_to_vllm_and_the_ladder(self) -> None:
        assert read_flags("") == EngineFlags()

    def test_they_are_shown_by_name(self) -> None:
        flags = read_flags("--enforce-eager --max-loras 2 --foo --bar=1 --baz a b --seed -1 --quantization none")
        assert flags.shown() == {
            "enforce-eager": True,
            "max-loras": 2,
            "logprobs-mode": "processed_logprobs",
            "foo": True,
            "bar": "1",
            "baz": "a b",
            "seed": "-1",
        }

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("--max-num-seqs many", "max-num-seqs: invalid int value"),
            ("--api-key x", "--api-key cannot be given: a command line is no place for secrets"),
            ("--api_key=x", "--api-key cannot be given"),
            ("--trust-remote-code", "--trust-remote-code cannot be given: code that comes with a model"),
            ("--no-trust-remote-code", "--no-trust-remote-code cannot be given"),
            ("--port 1", "a port of its own"),
            ("--shutdown-timeout 0", "a stop must not hang"),
            ("--config a.yaml", "one by one"),
            ("--dtype 'float32", "No closing quotation"),
        ],
    )
    def test_what_cannot_be_given_is_refused_in_one_line(self, text: str, reason: str) -> None:
        with pytest.raises(UsageError, match=reason) as refused:
            read_flags(text)
        assert "\n" not in str(refused.value)

    def test_the_base_answers_to_its_served_name(self) -> None:
        assert EngineFlags(model="/models/nano").name == "/models/nano"
        assert EngineFlags(model="/models/nano", served_model_name="nano").name == "nano"


class TestLadder:
    def test_on_a_gpu_it_goes_from_fp8_with_everything_down_to_bfloat16_eager(self) -> None:
        rungs = ladder(EngineFlags(model="m"), "cuda")
        assert [rung.name for rung in rungs] == [
            "fp8, speculation, CUDA graphs",
            "fp8, CUDA graphs",
            "fp8, eager",
            "bfloat16, eager",
        ]
        speculation = json.loads(rungs[0].flags.speculative_config or "")
        assert speculation["method"] == "ngram"
        assert rungs[-1].flags.quantization is None

    def test_on_a_cpu_it_never_asks_for_fp8_and_ends_where_greedy_is_reproducible(self) -> None:
        rungs = ladder(EngineFlags(model="m"), "cpu")
        assert [rung.flags.quantization for rung in rungs] == [None] * 4
        assert rungs[0].flags.speculative_config
        assert (rungs[-1].flags.dtype, rungs[-1].flags.enforce_eager) == ("float32", True)

    def test_on_a_cpu_no_prompt_is_read_in_parts_unless_the_caller_wants_it(self) -> None:
        assert all("--no-enable-chunked-prefill" in rung.flags.arguments() for rung in ladder(EngineFlags(), "cpu"))
        assert not any("chunked" in word for rung in ladder(EngineFlags(), "cuda") for word in rung.flags.arguments())
        chosen = ladder(read_flags("--enable-chunked-prefill"), "cpu")
        assert all("--enable-chunked-prefill" in rung.flags.arguments() for rung in chosen)

    @pytest.mark.parametrize("device", ["cuda", "cpu"])
    def test_a_rung_changes_no_more_than_the_one_before_needs(self, device: str) -> None:
        knobs = ("dtype", "quantization", "speculative_config", "enforce_eager")
        rungs = ladder(EngineFlags(model="m"), device)  # type: ignore[arg-type]
        for upper, lower in itertools.pairwise(rungs):
            changed = [knob for knob in knobs if getattr(upper.flags, knob) != getattr(lower.flags, knob)]
            # Other weights are one step, though two flags say so.
            assert changed in (["speculative_config"], ["enforce_eager"], ["dtype"], ["dtype", "quantization"])

    def test_what_the_caller_chose_stays_on_every_rung(self) -> None:
        chosen = read_flags("--quantization awq --dtype float16 --max-loras 2 --foo 1")
        rungs = ladder(chosen, "cuda")
        assert {rung.flags.quantization for rung in rungs} == {"awq"}
        assert {rung.flags.dtype for rung in rungs} == {"float16"}
        assert all(rung.flags.extra == ("--foo", "1") and rung.flags.max_loras == 2 for rung in rungs)
        assert [rung.name for rung in rungs] == ["awq, speculation, CUDA graphs", "awq, CUDA graphs", "awq, eager"]

    def test_a_knob_set_to_none_stays_down(self) -> None:
        rungs = ladder(read_flags("--quantization none --speculative-config none"), "cuda")
        words = [word for rung in rungs for word in rung.flags.arguments()]
        assert "--quantization" not in words
        assert "--speculative-config" not in words
        assert len(rungs) == 3

    def test_with_every_knob_chosen_there_is_one_rung(self) -> None:
        chosen = read_flags("-q fp8 --dtype auto --speculative-config none --enforce-eager")
        assert [rung.flags for rung in ladder(chosen, "cuda")] == [chosen]
