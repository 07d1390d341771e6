"""The licence of a module: by headers, the nearest text, GitHub; and what an SPDX expression asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from rl_gym.iac.mining.checkout import find_repositories
from rl_gym.iac.mining.github import GitHub
from rl_gym.iac.mining.licences import Licence, allows, checked_names, licence_of
from rl_gym.infra.errors import UsageError
from tests.unit.iac.mining.clones import clone, wording
from tests.unit.infra.web import Page, Web

HEADER = "# SPDX-License-Identifier: {}\n"
BUCKET = 'resource "aws_s3_bucket" "b" {}\n'


def of(folder: Path, module: str, files: Mapping[str, str], github: GitHub | None = None) -> Licence:
    (repository,) = find_repositories([folder])
    return licence_of(repository, module, files, github)


@pytest.mark.parametrize(
    ("expression", "allowed", "met"),
    [
        ("MIT", ["mit"], True),
        ("GPL-3.0-only", ["MIT"], False),
        ("GPL-3.0-or-later", ["GPL-3.0"], True),
        ("(MIT OR GPL-2.0)", ["MIT"], True),
        ("MIT AND GPL-2.0", ["MIT"], False),
        ("(MIT OR GPL-2.0) AND ISC", ["MIT", "ISC"], False),
        ("GPL-2.0 WITH Classpath-exception-2.0", ["GPL-2.0"], False),
        ("", ["MIT"], False),
        ("OR", ["MIT"], False),
    ],
)
def test_an_expression_is_met_by_what_is_allowed(expression: str, allowed: list[str], met: bool) -> None:
    assert allows(expression, checked_names(allowed)) is met


def test_what_cannot_be_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no SPDX name"):
        checked_names(["any licence"])


def test_the_nearest_text_counts_and_names_its_holder(tmp_path: Path) -> None:
    clone(tmp_path, None, {"vendored/LICENSE.md": wording("ISC", "Charles Babbage")})
    assert of(tmp_path, ".", {"main.tf": BUCKET}) == Licence("MIT", "LICENSE", "Ada Lovelace")
    assert of(tmp_path, "modules/a", {"main.tf": BUCKET}) == Licence("MIT", "LICENSE", "Ada Lovelace")
    near = Licence("ISC", "vendored/LICENSE.md", "Charles Babbage")
    assert of(tmp_path, "vendored/a/b", {"main.tf": BUCKET}) == near


def test_of_several_in_one_folder_all_hold(tmp_path: Path) -> None:
    clone(tmp_path, None, {"LICENSE-APACHE": wording("Apache-2.0")})
    assert of(tmp_path, ".", {"main.tf": BUCKET}).name == "Apache-2.0 AND MIT"
    (tmp_path / "COPYING").write_text("You may look.")
    assert of(tmp_path, ".", {"main.tf": BUCKET}).name is None


def test_headers_go_before_the_text_where_every_file_has_one(tmp_path: Path) -> None:
    clone(tmp_path, None, {})
    headed = HEADER.format("MPL-2.0") + BUCKET
    assert of(tmp_path, ".", {"a.tf": headed, "b.tf": headed}) == Licence("MPL-2.0", "header", "Ada Lovelace")
    assert of(tmp_path, ".", {"a.tf": headed, "b.tf": BUCKET}).name == "MIT AND MPL-2.0"
    either = "/* SPDX-License-Identifier: MIT OR GPL-2.0 */\n" + BUCKET
    assert of(tmp_path, ".", {"a.tf": either, "b.tf": headed}).name == "(MIT OR GPL-2.0) AND MPL-2.0"


def test_apaches_holder_stands_in_the_notice(tmp_path: Path) -> None:
    text = wording("Apache-2.0").replace("Copyright (c) 2021 Ada Lovelace", "")
    clone(tmp_path, None, {"NOTICE": "Engine\nCopyright 2019 Analytical, Inc.\n"}, text)
    assert of(tmp_path, ".", {"main.tf": BUCKET}) == Licence("Apache-2.0", "LICENSE", "Analytical, Inc")


def test_github_is_asked_where_the_files_do_not_tell(tmp_path: Path) -> None:
    clone(tmp_path, "git@github.com:ada/engine.git", {}, "You may look.")
    assert of(tmp_path, ".", {"main.tf": BUCKET}).reason == "licence whose wording is not known"
    with Web() as web:
        answer = Page(json.dumps({"license": {"spdx_id": "MIT"}}).encode())
        web.pages["/repos/ada/engine/license?ref=0123456789abcdef0123456789abcdef01234567"] = [answer]
        assert of(tmp_path, ".", {"main.tf": BUCKET}, GitHub(web.url)).told_by == "GitHub"
        (tmp_path / "LICENSE").unlink()
        assert of(tmp_path, ".", {"main.tf": BUCKET}, GitHub(web.url)).name == "MIT"
        web.pages.clear()
        assert of(tmp_path, ".", {"main.tf": BUCKET}, GitHub(web.url)).reason.startswith("no licence; GitHub knows")
