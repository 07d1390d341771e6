"""What is fetched of a model at the hub, what is not, and what is said where nothing is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from rl_gym.infra.errors import (
    ForbiddenError,
    InfrastructureError,
    NotFoundError,
    RlGymError,
    TooLargeError,
    UsageError,
)
from rl_gym.serving.weights import Terms, parse_source
from rl_gym.serving.weights.hub import download
from tests.unit.serving.weights.hub_server import COMMIT, HubServer

SOURCE = parse_source("hub:org/model")
TERMS = Terms(allowed=("hub",))


def fetched(tmp_path: Path, source: str = "hub:org/model", terms: Terms = TERMS) -> Path:
    folder = tmp_path / "fetched"
    folder.mkdir()
    assert download(parse_source(source), "", folder, terms) == COMMIT
    return folder


def refusal(tmp_path: Path, source: str = "hub:org/model", terms: Terms = TERMS) -> RlGymError:
    with pytest.raises(RlGymError) as raised:
        fetched(tmp_path, source, terms)
    text = str(raised.value)
    assert "SECRET" not in text
    assert "\n" not in text
    return raised.value


@pytest.mark.parametrize("source", ["hub:org/model", "hub:org/model@v1", f"hub:org/model@{COMMIT}"])
def test_weights_and_text_are_fetched_and_nothing_that_runs(source: str, hub: HubServer, tmp_path: Path) -> None:
    for name in ("pytorch_model.bin", "modeling_own.py", "training_args.pt", "adapter_config.json", "onnx/model.onnx"):
        hub.files[name] = b"import os"
    folder = fetched(tmp_path, source)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert all((folder / name).read_bytes() == hub.files[name] for name in there)
    assert not any(path.endswith((".bin", ".py", ".pt", "adapter_config.json")) for path in hub.asked)


def test_pickles_alone_are_refused_before_anything_is_fetched(hub: HubServer, tmp_path: Path) -> None:
    hub.files["pytorch_model.bin"] = hub.files.pop("model.safetensors")
    error = refusal(tmp_path)
    assert isinstance(error, UsageError)
    assert str(error) == "hub:org/model has no weights in safetensors (pytorch_model.bin is not read)"
    assert not any("/resolve/" in path for path in hub.asked)


def test_a_model_that_is_too_large_is_refused_before_anything_is_fetched(hub: HubServer, tmp_path: Path) -> None:
    hub.listed["model.safetensors"] = 10**15
    error = refusal(tmp_path)
    assert isinstance(error, TooLargeError)
    assert "RL_GYM_WEIGHTS_BYTES" in str(error)
    assert not any("/resolve/" in path for path in hub.asked)


def test_a_model_that_the_disk_has_no_room_for(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage: Any = type("Usage", (), {"free": 1_000})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    error = refusal(tmp_path)
    assert isinstance(error, InfrastructureError)
    assert "which has 1000 left" in str(error)


@pytest.mark.parametrize(
    ("status", "code", "kind", "said"),
    [
        (
            401,
            "RepoNotFound",
            NotFoundError,
            "no such model, or it is private; put a token that may read it in HF_TOKEN",
        ),
        (404, "RepoNotFound", NotFoundError, "no such model"),
        (401, "GatedRepo", ForbiddenError, "is gated: accept its terms at the hub; put a token"),
        (403, "GatedRepo", ForbiddenError, "is gated"),
        (403, "", ForbiddenError, "is gated"),
        (401, "", NotFoundError, "put a token that may read it in HF_TOKEN"),
        (404, "RevisionNotFound", NotFoundError, "no such revision"),
        (500, "", InfrastructureError, "the hub answers 500"),
        (429, "", InfrastructureError, "the hub answers 429"),
    ],
)
def test_what_the_hub_refuses_is_one_line(
    status: int, code: str, kind: type[RlGymError], said: str, hub: HubServer, tmp_path: Path
) -> None:
    hub.refusal = (status, code)
    error = refusal(tmp_path)
    assert type(error) is kind
    assert said in str(error)


def test_a_token_is_sent_and_never_shown(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_SECRETtoken")
    hub.refusal = (403, "GatedRepo")
    assert "the token that is set may not read it" in str(refusal(tmp_path))
    assert hub.tokens == {"Bearer hf_SECRETtoken"}


def test_a_revision_that_there_is_not(hub: HubServer, tmp_path: Path) -> None:
    assert isinstance(refusal(tmp_path, "hub:org/model@v2"), NotFoundError)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_that_changed_on_its_way(name: str, hub: HubServer, tmp_path: Path) -> None:
    body = hub.files[name]
    hub.sent[name] = body[:-1] + b"!"
    error = refusal(tmp_path)
    assert isinstance(error, InfrastructureError)
    assert f"{name} is not what the hub lists" in str(error)


def test_more_than_was_listed_ends_the_download(hub: HubServer, tmp_path: Path) -> None:
    hub.sent["model.safetensors"] = bytes(30_000_000)
    assert "sends more than it lists" in str(refusal(tmp_path))


def test_a_name_that_the_hub_does_not_know_as_one(hub: HubServer, tmp_path: Path) -> None:
    assert isinstance(refusal(tmp_path, "hub:org/model--x"), UsageError)
    assert hub.asked == []


@pytest.mark.parametrize("listing", [b"<html>", b"[{}]", b"{}"])
def test_a_list_that_is_none(listing: bytes, hub: HubServer, tmp_path: Path) -> None:
    hub.tree = listing
    assert isinstance(refusal(tmp_path), InfrastructureError | UsageError)


def test_a_hub_that_does_not_answer(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    error = refusal(tmp_path)
    assert isinstance(error, InfrastructureError)
    assert "cannot be fetched from the hub: ConnectError" in str(error)


def test_a_closed_boundary_asks_no_hub_outside(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "https://hub.example.com")
    error = refusal(tmp_path, terms=Terms(allowed=("hub",), closed=True))
    assert "the boundary is closed" in str(error)


def test_a_closed_boundary_may_ask_a_hub_of_its_own(hub: HubServer, tmp_path: Path) -> None:
    assert fetched(tmp_path, terms=Terms(allowed=("hub",), closed=True)).is_dir()
