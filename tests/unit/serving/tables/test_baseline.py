"""Folders of recorded completions: what is read, and everything that is refused with the file and the reason."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.serving.tables.baseline import read_baselines

MANIFEST: dict[str, Any] = {
    "model": "vendor/large-1",
    "date": "2026-05-31",
    "prompt": "blind",
    "tokens": {"prompt": 300, "completion": 900},
}
Change = Callable[[Path], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "recorded")


def written(folder: Path, **manifest: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(MANIFEST | manifest))
    for number in (0, 7, 10):
        (folder / f"ep{number}.md").write_text(f"answer {number}")
    return folder


def test_a_folder_is_read_in_the_order_of_its_episodes(folder: Path) -> None:
    (folder / ".hidden").write_text("no matter")
    [one] = read_baselines(folder, 120)
    assert one.name == "vendor/large-1 (blind)"
    assert dict(one.completions) == {0: "answer 0", 7: "answer 7", 10: "answer 10"}
    assert list(one.completions) == [0, 7, 10]
    assert (one.tokens().prompt, one.tokens().completion, one.tokens_of(7)) == (300, 900, None)


def test_several_folders_are_read(tmp_path: Path) -> None:
    for kind in ("blind", "rulebook"):
        written(tmp_path / kind, prompt=kind)
    assert [one.manifest.prompt for one in read_baselines(tmp_path, 120)] == ["blind", "rulebook"]


def test_tokens_file_by_file_add_up(tmp_path: Path) -> None:
    files = {f"ep{number}.md": {"prompt": number, "completion": 2} for number in (0, 7, 10)}
    [one] = read_baselines(written(tmp_path / "a", tokens=None, files=files), 120)
    assert (one.tokens().prompt, one.tokens().completion, one.tokens_of(7)) == (17, 6, 2)


def manifest(**change: Any) -> Change:
    return lambda folder: (folder / "manifest.json").write_text(json.dumps(MANIFEST | change))


def without(key: str) -> Change:
    rest = {name: value for name, value in MANIFEST.items() if name != key}
    return lambda folder: (folder / "manifest.json").write_text(json.dumps(rest))


def file(name: str, content: bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (without("model"), "manifest.json: model: Field required"),
        (without("date"), "manifest.json: date: Field required"),
        (without("prompt"), "manifest.json: prompt: Field required"),
        (without("tokens"), "manifest.json: tokens are needed"),
        (manifest(files={"ep0.md": {"prompt": 1, "completion": 1}}), "manifest.json: tokens are needed"),
        (manifest(prompt="shouted"), "manifest.json: prompt: Input should be 'blind' or 'rulebook'"),
        (manifest(date="yesterday"), "manifest.json: date: a day is needed, such as 2026-05-31"),
        (manifest(date=20260531), "manifest.json: date: Input should be a valid string"),
        (manifest(model=""), "manifest.json: model: "),
        (manifest(model="a\x1b[31m"), "manifest.json: model: "),
        (manifest(price=3), "manifest.json: price: Extra inputs are not permitted"),
        (manifest(tokens={"prompt": -1, "completion": 1}), "manifest.json: tokens.prompt: "),
        (manifest(prices={"prompt_million": 1}), "manifest.json: prices.completion_million: Field required"),
        (file("manifest.json", b'{"prices": {"prompt_million": NaN'), "manifest.json:1:34: not JSON"),
        (
            manifest(prices={"prompt_million": float("nan"), "completion_million": 1}),
            "manifest.json: prices.prompt_million: Input should be a finite number",
        ),
        (file("manifest.json", b"[" * 100_000), "manifest.json: not JSON that can be read: it is nested too deep"),
        (file("manifest.json", b"[]"), "manifest.json: Input should be an object"),
        (file("manifest.json", b" " * (2 << 20)), "manifest.json: larger than 1 MiB"),
        (file("ep120.md", b""), "ep120.md: there is no episode 120, they are 0 to 119"),
        (file("ep01.md", b""), "ep01.md: neither manifest.json nor epN.md"),
        (file("Ep1.md", b""), "Ep1.md: neither manifest.json nor epN.md"),
        (file("ep99999999999.md", b""), "neither manifest.json nor epN.md"),
        (file("notes.txt", b""), "notes.txt: neither manifest.json nor epN.md"),
        (file("ep1.md", b"a\n\xff\xfe"), "ep1.md:2:1: not UTF-8 text"),
        (file("ep1.md", b"a" * (10 << 20)), "ep1.md: larger than 1 MiB"),
        (file("ep1.md", b"a" * 300_000), "ep1.md: 300000 characters; a completion has at most 262144"),
        (lambda folder: (folder / "ep1.md").mkdir(), "ep1.md: Is a directory"),
        (lambda folder: os.mkfifo(folder / "ep1.md"), "ep1.md: not a regular file"),
        (lambda folder: (folder / "ep1.md").symlink_to("nowhere"), "ep1.md: No such file or directory"),
        (lambda folder: [path.unlink() for path in folder.glob("ep*")], "recorded: no completion epN.md is in it"),
    ],
)
def test_what_is_wrong_is_refused_with_file_and_reason(change: Change, complaint: str, folder: Path) -> None:
    change(folder)
    with pytest.raises(UsageError) as caught:
        read_baselines(folder, 120)
    message = str(caught.value)
    assert complaint in message
    assert message.startswith(str(folder))
    assert "\n" not in message


@pytest.mark.parametrize(
    ("names", "complaint"),
    [(("ep0.md", "ep7.md"), "files has no tokens of ep10.md"), (("ep0.md", "ep7.md", "ep10.md", "ep3.md"), "ep3.md")],
)
def test_tokens_and_files_belong_together(names: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    files = {name: {"prompt": 1, "completion": 2} for name in names}
    with pytest.raises(UsageError, match=complaint):
        read_baselines(written(tmp_path / "a", tokens=None, files=files), 120)


def test_the_same_model_and_kind_twice_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "a")
    written(tmp_path / "b")
    with pytest.raises(UsageError, match=r"b: vendor/large-1 \(blind\) stands in a already"):
        read_baselines(tmp_path, 120)


def test_a_folder_among_several_needs_a_manifest_too(tmp_path: Path) -> None:
    written(tmp_path / "a")
    (tmp_path / "b").mkdir()
    with pytest.raises(NotFoundError, match=r"b/manifest\.json: no such file"):
        read_baselines(tmp_path, 120)


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such folder"):
        read_baselines(tmp_path / "nowhere", 120)
    with pytest.raises(NotFoundError, match=r"neither manifest\.json nor a folder with one"):
        read_baselines(tmp_path, 120)


def test_too_many_folders(tmp_path: Path) -> None:
    for number in range(33):
        (tmp_path / str(number)).mkdir()
    with pytest.raises(UsageError, match="33 folders; at most 32"):
        read_baselines(tmp_path, 120)
