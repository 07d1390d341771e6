"""Repositories among folders: what git says without git, and never a file from outside or without bound."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rl_gym.iac.mining import checkout
from rl_gym.iac.mining.checkout import find_repositories, is_licence
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.text_files import UnreadableError
from tests.unit.iac.mining.clones import COMMIT, clone, resource

BUCKET = resource("aws_s3_bucket")


def names(*folders: Path) -> list[str]:
    return [repository.name for repository in find_repositories(folders)]


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ("https://github.com/ada/engine.git", "github.com/ada/engine"),
        ("https://ada:s3cret@GitHub.com/ada/engine", "github.com/ada/engine"),
        ("git@github.com:ada/engine.git", "github.com/ada/engine"),
        ("ssh://git@git.example.com:2222/ada/parts/engine.git", "git.example.com/ada/parts/engine"),
        ("../elsewhere/engine.git", "clone"),
        ("file:///srv/engine.git", "clone"),
        ("https://github.com/../../x", "clone"),
        (None, "clone"),
    ],
)
def test_a_repository_is_called_by_its_origin_without_secrets_and_paths(
    tmp_path: Path, origin: str | None, name: str
) -> None:
    clone(tmp_path / "clone", origin, {"main.tf": BUCKET})
    (repository,) = find_repositories([tmp_path / "clone"])
    assert (repository.name, repository.commit) == (name, COMMIT)


def test_the_commit_is_gits_own(tmp_path: Path) -> None:
    run = ["git", "-C", str(tmp_path), "-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "main.tf").write_text(BUCKET)
    subprocess.run([*run, "add", "."], check=True)
    subprocess.run([*run, "commit", "-qm", "one"], check=True)
    told = subprocess.run([*run, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert find_repositories([tmp_path])[0].commit == told
    subprocess.run([*run, "pack-refs", "--all"], check=True)
    assert find_repositories([tmp_path])[0].commit == told
    subprocess.run([*run, "checkout", "-q", "--detach"], check=True)
    assert find_repositories([tmp_path])[0].commit == told


@pytest.mark.parametrize("head", ["", "ref: refs/heads/../../../secret\n", "ref: /secret\n", "x" * 40, "ref: \n"])
def test_a_head_that_is_none_is_no_commit(tmp_path: Path, head: str) -> None:
    clone(tmp_path, None, {})
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert find_repositories([tmp_path])[0].commit is None


def test_what_git_keeps_may_be_anything(tmp_path: Path) -> None:
    clone(tmp_path, "https://github.com/ada/engine", {})
    (tmp_path / ".git" / "config").write_text("\n" * 500_000 + '[remote "origin"]\n' * 20_000)
    (tmp_path / ".git" / "packed-refs").write_text("0" * 900_000)
    assert names(tmp_path) == [tmp_path.name]
    (tmp_path / ".git" / "config").write_bytes(b"\xff" * 100)
    assert names(tmp_path) == [tmp_path.name]


def test_git_is_looked_for_below_the_named_folder_alone(tmp_path: Path) -> None:
    clone(tmp_path / "outside", "https://github.com/out/side", {})
    clone(tmp_path / "in" / "whole", "https://github.com/ada/whole", {"part/main.tf": BUCKET})
    (tmp_path / "in" / "whole" / "part" / ".git").write_text("gitdir: ../.git\n")
    (tmp_path / "in" / "linked").mkdir()
    (tmp_path / "in" / "linked" / ".git").symlink_to(tmp_path / "outside" / ".git")
    (tmp_path / "in" / "led").mkdir()
    (tmp_path / "in" / "led" / ".git").write_text(f"gitdir: {tmp_path / 'outside' / '.git'}\n")
    found = {
        repository.folder.name: (repository.name, repository.commit)
        for repository in find_repositories([tmp_path / "in"])
    }
    assert found == {
        "whole": ("github.com/ada/whole", COMMIT),
        "part": ("github.com/ada/whole", COMMIT),
        "linked": ("linked", None),
        "led": ("led", None),
    }


def test_a_folder_of_clones_is_its_clones_and_one_without_any_is_itself(tmp_path: Path) -> None:
    clone(tmp_path / "all" / "ada" / "engine", None, {"modules/a/main.tf": BUCKET, "modules/a/LICENSE": "x"})
    (tmp_path / "all" / "unpacked" / "modules").mkdir(parents=True)
    (tmp_path / "all" / "unpacked" / "LICENCE.txt").write_text("x")
    assert names(tmp_path / "all") == ["ada/engine", "unpacked"]
    assert names(tmp_path / "all", tmp_path / "all" / "ada" / "engine") == ["ada/engine", "unpacked"]
    (tmp_path / "plain").mkdir()
    assert names(tmp_path / "plain") == ["plain"]
    with pytest.raises(NotFoundError, match="no such folder"):
        names(tmp_path / "nowhere")


def test_modules_are_the_folders_with_source(tmp_path: Path) -> None:
    files = (
        "main.tf",
        "b.tf",
        "modules/a/main.tf",
        "docs/x.md",
        ".terraform/modules/c/main.tf",
        "modules/a/.hidden.tf",
    )
    clone(tmp_path, None, dict.fromkeys(files, BUCKET))
    clone(tmp_path / "sub", "https://github.com/ada/sub", {"main.tf": BUCKET})
    outer = next(one for one in find_repositories([tmp_path]) if one.folder == tmp_path.resolve())
    assert outer.modules == {".": ["b.tf", "main.tf"], "modules/a": ["main.tf"]}


def test_links_pipes_and_names_that_are_no_text_are_skipped(tmp_path: Path) -> None:
    secret = tmp_path / "secret.tf"
    secret.write_text(BUCKET)
    root = clone(tmp_path / "clone", None, {"main.tf": BUCKET})
    (root / "linked.tf").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.tf")
    (root / "a\nb.tf").write_text(BUCKET)
    (root / os.fsdecode(b"\xff.tf")).write_text(BUCKET)
    (repository,) = find_repositories([root])
    assert repository.modules == {".": ["main.tf"]}
    assert {one.reason for one in repository.skipped} == {"link", "not a regular file", "name that is no text"}
    assert "\n" not in "".join(one.path for one in repository.skipped)


def test_a_folder_that_does_not_open_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone(tmp_path, None, {"main.tf": BUCKET, "closed/main.tf": BUCKET})
    scan = os.scandir

    def closed(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(checkout.os, "scandir", closed)
    (repository,) = find_repositories([tmp_path])
    assert list(repository.modules) == ["."]
    assert [(one.path, one.reason) for one in repository.skipped] == [("closed", "folder that does not open")]


def test_a_repository_beyond_bounds_has_no_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone(tmp_path, None, {f"{index}.tf": BUCKET for index in range(8)})
    monkeypatch.setattr(checkout, "_MOST_SOURCES", 5)
    (repository,) = find_repositories([tmp_path])
    assert repository.modules == {}
    assert [one.reason for one in repository.skipped] == ["repository of more than 5 Terraform files"]
    monkeypatch.setattr(checkout, "_MOST_ENTRIES", 3)
    assert [one.reason for one in find_repositories([tmp_path])[0].skipped] == ["repository of more than 3 files"]
    monkeypatch.setattr(checkout, "_MOST_FOLDERS", 0)
    with pytest.raises(UsageError, match="mine them in parts"):
        find_repositories([tmp_path])


def test_a_folder_deeper_than_any_module_is_skipped(tmp_path: Path) -> None:
    clone(tmp_path, None, {"/".join(["d"] * 40) + "/main.tf": BUCKET, "main.tf": BUCKET})
    (repository,) = find_repositories([tmp_path])
    assert list(repository.modules) == ["."]
    assert [one.reason for one in repository.skipped] == ["deeper than 16 folders"]


def test_a_file_is_read_by_its_path_in_the_repository(tmp_path: Path) -> None:
    clone(tmp_path, None, {"a/main.tf": BUCKET})
    (repository,) = find_repositories([tmp_path])
    assert repository.read("a/main.tf", 1000) == BUCKET
    with pytest.raises(UnreadableError, match=r"^a/main\.tf: larger"):
        repository.read("a/main.tf", 10)


def test_a_licence_is_told_by_its_name() -> None:
    assert all(map(is_licence, ("LICENSE", "licence.md", "LICENSE-MIT", "COPYING", "UNLICENSE")))
    assert not any(map(is_licence, ("license.tf", "licenses", "README", "license_check.py")))
