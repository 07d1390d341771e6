"""`rl-gym bakeoff` and `rl-gym serve-table`: the packaged nano embedded, an engine at an address, and every mistake."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rl_gym.cli.engines import KEY, chosen_episodes
from rl_gym.cli.main import main
from rl_gym.gym import records
from rl_gym.iac.environment import make

SMALL = ["--anchor", "synthetic", "--limit", "3", "--samples", "2", "--max-tokens", "48"]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    monkeypatch.delenv(KEY, raising=False)


@pytest.fixture
def embedded() -> None:
    pytest.importorskip("torch")


@pytest.mark.usefixtures("embedded")
def test_a_bakeoff_of_the_packaged_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["--models", "nano-base, nano", *SMALL, "--gpu-hour", "1", "--rulebook", "--out", str(out)]
    assert main(["bakeoff", *arguments]) == 0
    shown = capsys.readouterr().out
    assert "Bake-off on synthetic: 3 episodes" in shown
    assert " leads, over " in shown
    rows = records.read(out / "completions.jsonl")
    assert {row.policy for row in rows} == {"nano-base", "nano-base+rulebook", "nano", "nano+rulebook"}
    assert len(rows) == 4 * 3 * 3
    assert all(len(row.model) == 64 for row in rows)
    figures = json.loads((out / "bakeoff.json").read_text())
    assert [row["policy"] for row in figures["rows"]] == ["nano-base", "nano-base+rulebook", "nano", "nano+rulebook"]
    assert all(row["usd_per_request"] > 0 for row in figures["rows"])


@pytest.mark.usefixtures("embedded")
def test_the_serving_table_of_the_packaged_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve-table", "--model", "nano", *SMALL, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "nano on synthetic: 3 episodes, 2 samples each" in shown
    for mode in ("pass@1 ", "pass@1+repair ", "best-of-n ", "best-of-n+repair "):
        assert f"\n{mode}" in shown
    assert "best-of-n over pass@1: +" in shown
    figures = json.loads((tmp_path / "serve-table.json").read_text())
    rewards = {cell["mode"]: cell["reward"]["estimate"] for cell in figures["cells"]}
    assert rewards["pass@1"] <= rewards["best-of-n"] <= rewards["best-of-n+repair"]
    assert rewards["pass@1"] <= rewards["pass@1+repair"]
    assert figures["reproducible"] is True


@pytest.mark.usefixtures("embedded")
def test_a_context_without_room_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    much = ["--anchor", "synthetic", "--limit", "2", "--max-tokens", "16384"]
    assert main(["bakeoff", "--models", "nano", *much]) == 0
    shown = capsys.readouterr().out
    assert "nano: 2 prompts leave no room for an answer, and count as an empty one" in shown
    assert "nan " not in shown
    assert main(["serve-table", "--model", "nano", *much]) == 0
    shown = capsys.readouterr().out
    assert "2 prompts leave no room for an answer" in shown
    assert "0 attempts on 0 answers" in shown


def test_a_limit_spreads_over_the_anchor() -> None:
    env = make()
    every = env.episodes("synthetic")
    assert chosen_episodes(env, "synthetic", 3) == [every[0], every[80], every[160]]
    assert list(chosen_episodes(env, "synthetic", 500)) == list(chosen_episodes(env, "synthetic", None)) == list(every)
    assert len(set(map(id, chosen_episodes(env, "synthetic", 239)))) == 239


class Engine(ThreadingHTTPServer):
    """Answers every chat with what is perfect for its episode, and remembers the keys that it was shown."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        env = make()
        self.answers = {env.prompt(episode): env.oracle(episode) for episode in chosen_episodes(env, "synthetic", 3)}
        self.keys: set[str | None] = set()
        self.models: set[str] = set()
        self.busy = 0


class Answering(BaseHTTPRequestHandler):
    server: Engine

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.busy:
            self.server.busy -= 1
            return self._send({"error": {"message": "busy"}}, 429)
        self.server.keys.add(self.headers["Authorization"])
        self.server.models.add(asked["model"])
        text = self.server.answers[asked["messages"][0]["content"]]
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        many = asked.get("n") or 1
        self._send(
            {
                "model": asked["model"],
                "choices": [{"index": number, **choice} for number in range(many)],
                "usage": {"prompt_tokens": 100, "completion_tokens": 200 * many},
            }
        )
        return None

    def do_GET(self) -> None:
        self._send({"data": [{"id": "large", "max_model_len": 100_000}]})

    def _send(self, body: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return None


@pytest.fixture
def engine() -> Iterator[Engine]:
    pytest.importorskip("httpx")
    with Engine() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_engine_that_asks_for_patience_leaves_no_lines_in_the_table(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.busy = 2
    address = f"http://127.0.0.1:{engine.server_port}/v1"
    assert main(["bakeoff", "--models", "large", "--url", address, *SMALL]) == 0
    assert not engine.busy
    assert capsys.readouterr().out.startswith("Bake-off on synthetic")


def test_models_at_an_address_with_the_key_of_the_environment(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv(KEY, "s3cret-key")
    address = f"http://127.0.0.1:{engine.server_port}/v1"
    prices = ["--prompt-million", "10", "--completion-million", "20", "--out", str(tmp_path)]
    assert main(["bakeoff", "--models", f"large,other@{address}", "--url", address, *SMALL, *prices]) == 0
    told = capsys.readouterr()
    assert engine.keys == {"Bearer s3cret-key"}
    assert engine.models == {"large", "other"}
    figures = json.loads((tmp_path / "bakeoff.json").read_text())
    assert [row["policy"] for row in figures["rows"]] == ["large", f"other@{address}"]
    assert figures["rows"][0]["sampled"]["reward"]["estimate"] == 1.0
    assert figures["rows"][0]["usd_per_request"] == pytest.approx(0.005)
    assert "does not exclude 0: they are not told apart" in told.out
    assert "s3cret" not in told.out + told.err + (tmp_path / "completions.jsonl").read_text()


def test_a_table_of_a_model_at_an_address(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"http://127.0.0.1:{engine.server_port}"
    assert main(["serve-table", "--model", "large", "--url", address, *SMALL]) == 0
    shown = capsys.readouterr().out
    assert "pass@1+repair: 0 attempts on 0 answers with something to mend" in shown
    assert "the engine does not promise the same answers again" in shown


@pytest.mark.parametrize("verb", [["bakeoff", "--models"], ["serve-table", "--model"]])
@pytest.mark.parametrize(
    ("model", "more", "complaint"),
    [
        ("nano-bass", [], "did you mean 'nano-base'"),
        ("", [], "an empty name stands among the models"),
        ("nano", ["--anchor", "dev2"], "--anchor takes dev, holdout, synthetic, not 'dev2'"),
        ("nano", ["--limit", "0"], "Invalid value for '--limit'"),
        ("nano", ["--samples", "33"], "Invalid value for '--samples'"),
        ("nano", ["--temperature", "0"], "temperature must lie in (0, 10], not 0.0; use greedy for 0"),
        ("nano", ["--temperature", "nan"], "temperature must lie in (0, 10], not nan"),
        ("nano", ["--gpu-hour", "-1"], "--gpu-hour takes 0 or more US dollars, not -1.0"),
        ("nano", ["--prompt-million", "inf"], "--prompt-million takes 0 or more US dollars, not inf"),
        ("nano", ["--gpu-hour", "1", "--prompt-million", "1"], "paid by the hour or by the token, not by both"),
        ("nano", ["--ruleset", "seed19"], "there is no ruleset 'seed19'"),
        ("nano", ["--profile", "gentle"], "gentle"),
        ("nano", ["--url", "ftp://x"], "the engine's address has to begin with http:// or https://"),
        ("nano", ["--url", "http://name:word@127.0.0.1"], "must not hold a name or password"),
        ("a b", ["--url", "http://127.0.0.1:9"], "'a b' is no name that a model can have"),
    ],
)
def test_a_mistake_is_one_line(
    verb: list[str], model: str, more: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verb, model, "--anchor", "synthetic", "--limit", "1", *more]) == 1
    assert_one_line(capsys, complaint)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["bakeoff", "--models", "nano,nano", *SMALL], "bakeoff: nano is named twice"),
        (["bakeoff", "--models", "nano,,nano-base", *SMALL], "an empty name stands among the models"),
        (["bakeoff", "--models", ",".join(map(str, range(17))), *SMALL], "17 models; at most 16"),
        (["bakeoff"], "Missing option '--models'"),
        (["serve-table"], "Missing option '--model'"),
        (["serve-table", "--model", "nano,nano-base", *SMALL], "--model takes one model"),
        (["serve-table", "--model", "nano", *SMALL, "--samples", "1"], "Invalid value for '--samples'"),
    ],
)
def test_other_mistakes_are_one_line(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert_one_line(capsys, complaint)


def test_an_engine_that_is_not_there_is_one_line(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"http://127.0.0.1:{engine.server_port}"
    engine.server_close()
    assert main(["bakeoff", "--models", "large", "--url", address, *SMALL]) == 1
    assert_one_line(capsys, "127.0.0.1")


def assert_one_line(capsys: pytest.CaptureFixture[str], complaint: str) -> None:
    error = capsys.readouterr().err
    assert complaint in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1


def test_a_closed_boundary_is_not_crossed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("httpx")
    monkeypatch.setenv("RL_GYM_BOUNDARY", "closed")
    assert main(["bakeoff", "--models", "m", "--url", "https://api.example.com/v1", *SMALL]) == 1
    assert "outside of the deployment" in capsys.readouterr().err
