"""Laying out a module's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.iac.engines.module_folder import module_folder


def test_files_lie_as_they_are_named() -> None:
    with module_folder({"main.tf": "a\r\n", "m/x.tf": "é"}) as folder:
        assert (folder.path / "main.tf").read_bytes() == b"a\r\n"
        assert (folder.path / "m" / "x.tf").read_text(encoding="utf-8") == "é"
        assert folder.name("m/x.tf") == folder.name(str(folder.path / "m" / "x.tf")) == "m/x.tf"
        assert list(folder.beside.iterdir()) == []
    assert not folder.path.exists()


@pytest.mark.parametrize("up", ["..", "/srv/stack"])
def test_names_from_elsewhere_keep_their_places_to_each_other(up: str) -> None:
    with module_folder({f"{up}/main.tf": "a", f"{up}/m/x.tf": "b"}) as folder:
        written = {str(path.relative_to(folder.path)) for path in folder.path.rglob("*.tf")}
        assert written == {"main.tf", "m/x.tf"}
        assert folder.name("m/x.tf") == f"{up}/m/x.tf"


def test_nothing_is_written_elsewhere(tmp_path: Path) -> None:
    with module_folder({f"{tmp_path}/a.tf": "", f"{tmp_path}/../b.tf": ""}) as folder:
        assert len(list(folder.path.rglob("*.tf"))) == 2
    assert list(tmp_path.iterdir()) == []


def test_two_names_of_one_file_are_refused() -> None:
    with pytest.raises(ValueError, match="one file"), module_folder({"a.tf": "1", "./a.tf": "2"}):
        pass
