"""Sources that are fetched, through to a model that answers: the hub and S3, once, and then from the store alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rl_gym.infra.digests import tree_digest
from rl_gym.infra.errors import NotFoundError, TooLargeError, UsageError
from rl_gym.infra.object_store import ObjectStore
from rl_gym.infra.settings import load_settings
from rl_gym.serving.weights import PACKAGED, Terms, find_model, parse_source, resolve_weights
from rl_gym.serving.weights.bucket import copy
from tests.unit.serving.weights.hub_server import HubServer

pytest.importorskip("transformers")
TERMS = Terms(allowed=("hub", "s3"))


def test_a_model_of_the_hub_is_fetched_once_and_then_never_asked_for(
    hub: HubServer, store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = resolve_weights("hub:org/model", store, tmp_path / "here", TERMS)
    assert first.digest == tree_digest(first.folder)
    assert first.origin == f"hub:org/model@sha256:{first.digest}"
    hub.asked.clear()

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for source in ("hub:org/model", first.origin):
        assert resolve_weights(source, store, tmp_path / "there", TERMS).digest == first.digest
    with pytest.raises(NotFoundError, match=r"is not stored here, and the hub is not asked \(HF_HUB_OFFLINE\)"):
        resolve_weights("hub:org/model@v1", store, tmp_path / "here", TERMS)
    assert hub.asked == []

    monkeypatch.setenv("RL_GYM_WEIGHTS", "hub:org")
    settings = load_settings(objects=str(tmp_path / "store"), weights_cache=tmp_path / "named")
    assert find_model("hub:org/model", settings) == tmp_path / "named" / first.digest


def test_a_model_that_would_not_load_is_not_stored(hub: HubServer, store: ObjectStore, tmp_path: Path) -> None:
    hub.files["config.json"] = hub.files["config.json"].replace(b'"llama"', b'"mystery"')
    with pytest.raises(UsageError, match="hub:org/model has an unknown architecture"):
        resolve_weights("hub:org/model", store, tmp_path / "here", TERMS)
    assert list(store.list()) == []


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    """A server with a bucket `weights`, that has the nano model below `ours/nano` and more beside it."""
    s3_server = pytest.importorskip("tests.unit.infra.s3_server")
    server = s3_server.S3Server()
    # What is in the buckets belongs to the process, not to the server.
    server.backend.create_bucket("weights", "us-east-1")
    for path in (PACKAGED / "nano").iterdir():
        server.backend.put_object("weights", f"ours/nano/{path.name}", path.read_bytes())
    for name in ("nano/pytorch_model.bin", "nano/sub/config.json", "nano2/config.json"):
        server.backend.put_object("weights", f"ours/{name}", b"{}")
    yield server.endpoint
    server.stop()


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "key")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    return "s3://weights/ours"


def test_a_model_in_s3(bucket: str, tmp_path: Path) -> None:
    copy(parse_source(f"{bucket}/nano"), tmp_path, TERMS)
    there = {path.name for path in tmp_path.iterdir()}
    assert there == {path.name for path in (PACKAGED / "nano").iterdir()} - {"build.json"}
    assert all((tmp_path / name).read_bytes() == (PACKAGED / "nano" / name).read_bytes() for name in there)


def test_nothing_in_s3(bucket: str, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nothing lies there"):
        copy(parse_source(f"{bucket}/nan"), tmp_path, TERMS)


def test_too_much_in_s3(bucket: str, tmp_path: Path) -> None:
    with pytest.raises(TooLargeError, match="has more bytes than RL_GYM_WEIGHTS_BYTES allows"):
        copy(parse_source(f"{bucket}/nano"), tmp_path, Terms(allowed=("s3",), most_bytes=10_000))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10_000
