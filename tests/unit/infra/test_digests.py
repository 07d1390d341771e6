"""A folder is known by the names and contents of its files, and by nothing else."""

from __future__ import annotations

from pathlib import Path

from rl_gym.infra.digests import combined_digest, file_digest, file_names, tree_digest


def test_a_tree_is_known_by_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_text("2")
    before = tree_digest(tmp_path)
    assert tree_digest(tmp_path) == before
    (tmp_path / "b" / "c").rename(tmp_path / "b" / "d")
    renamed = tree_digest(tmp_path)
    (tmp_path / "a").write_text("3")
    assert len({before, renamed, tree_digest(tmp_path)}) == 3
    assert len(file_digest(tmp_path / "a")) == 64


def test_a_tree_is_what_its_files_combine_to(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_text("2")
    (tmp_path / "a").write_text("1")
    assert file_names(tmp_path) == ["a", "b/c"]
    digests = {name: file_digest(tmp_path / name) for name in ("b/c", "a")}
    assert tree_digest(tmp_path) == combined_digest(digests)


def test_the_digest_of_a_model_stays_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    assert tree_digest(tmp_path) == "980423722b9a6c0d274a87964f19250e42ff753c80a9fa3b27810b82c1863070"
