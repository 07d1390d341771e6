"""Licences by their wording: whoever holds them and however they are laid out, and nothing that says more or less."""

from __future__ import annotations

import textwrap
from importlib.metadata import distributions
from pathlib import Path

import pytest

from rl_gym.iac.mining.wordings import PERMISSIVE, holder_in, recognised
from tests.unit.iac.mining.clones import wording


@pytest.mark.parametrize("name", PERMISSIVE)
def test_each_is_told_whatever_its_year_holder_and_layout(name: str) -> None:
    for text in (wording(name), wording(name, "Ada & Sons, Inc. or its affiliates", 1843)):
        assert recognised(text) == name
        reflowed = "\n\n".join(textwrap.fill(part, 50) for part in text.replace("License\n", "Licence\n").split("\n\n"))
        assert recognised(reflowed) == name
        assert recognised("\n".join(f"// {line}" for line in text.upper().splitlines())) == name


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("MIT", "The Software shall be used for Good, not Evil."),
        ("MIT", "Commercial use requires a separate agreement."),
        ("Apache-2.0", "The Software is provided to you subject to the Commons Clause License Condition."),
        (
            "BSD-2-Clause",
            "All advertising materials mentioning features of this software must display an acknowledgement.",
        ),
        ("ISC", "Not for military use."),
    ],
)
def test_a_condition_on_top_makes_it_another_licence(name: str, more: str) -> None:
    text = wording(name)
    halfway = text.index("\n\n", len(text) // 2) if "\n\n" in text[len(text) // 2 :] else len(text)
    assert recognised(f"{text}\n{more}\n") is None
    assert recognised(f"{more}\n\n{text}") is None
    assert recognised(f"{text[:halfway]}\n{more}\n{text[halfway:]}") is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("free of charge", "for noncommercial purposes"),
        ("to use, copy", "not to use, copy"),
        ("Copyright (c) 2021 Ada Lovelace", "Copyright (c) 2021 Ada Lovelace, not for commercial use"),
        ("WITHOUT WARRANTY OF ANY KIND", "WITH A WARRANTY OF SOME KIND AND FOR EVER AND EVER"),
    ],
)
def test_few_other_words_make_it_another_licence(old: str, new: str) -> None:
    text = wording("MIT")
    assert old in text
    assert recognised(text.replace(old, new)) is None


def test_a_text_with_a_part_missing_is_none() -> None:
    text = wording("BSD-3-Clause")
    assert recognised(text[: len(text) // 2]) is None
    assert recognised("") is None
    assert recognised("All rights reserved.") is None
    assert recognised(wording("MIT") + wording("Apache-2.0")) is None
    assert recognised("x " * 100_000) is None


@pytest.mark.parametrize("text", ["\n" * 60_000, " " * 60_000, "Copyright (c) 2020 " + " ." * 30_000, "(c)" * 20_000])
def test_a_text_made_to_stall_the_reader_does_not(text: str) -> None:
    assert recognised(text) is None
    assert holder_in(text) is None or len(holder_in(text) or "") <= 200


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Mozilla Public License Version 2.0\n====\n1. Definitions", "MPL-2.0"),
        ("                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007", "GPL-3.0"),
        ("GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3", "AGPL-3.0"),
        ("Business Source License 1.1\n\nParameters", "BUSL-1.1"),
    ],
)
def test_others_are_called_by_their_titles(title: str, name: str) -> None:
    assert recognised(f"{title}\n{'Everyone is permitted to copy. ' * 50}") == name


@pytest.mark.parametrize(
    ("line", "holder"),
    [
        ("Copyright (c) 2017-2024 Ada Lovelace", "Ada Lovelace"),
        ("   Copyright 2021 Cloud Posse, LLC. All rights reserved.", "Cloud Posse, LLC"),
        ("# Copyright © 2020 to present, The Authors <a@example.com>", "The Authors <a@example.com>"),
        ("Copyright [yyyy] [name of copyright owner]", None),
        ("      (c) You must retain all copyright, patent, and attribution notices", None),
        ("The above copyright notice shall be included", None),
    ],
)
def test_the_holder_is_whom_the_first_copyright_line_names(line: str, holder: str | None) -> None:
    assert holder_in(f"A licence\n\n{line}\nPermission is granted.\n") == holder


def test_what_is_installed_here_is_told_as_its_maker_says() -> None:
    """Each package that says one licence of these, and ships one text of it: most texts are known, none is mistaken."""
    told = list(_installed())
    assert {said for said, _ in told} >= {"MIT", "Apache-2.0", "BSD-3-Clause"}
    assert [(said, found) for said, found in told if found not in (said, None)] == []
    assert sum(found is not None for _, found in told) >= 0.8 * len(told)


def _installed() -> list[tuple[str, str | None]]:
    found = []
    for package in distributions():
        said = package.metadata["License-Expression"]
        texts = [Path(str(package.locate_file(file))) for file in package.files or () if "LICENSE" in file.name.upper()]
        if said in PERMISSIVE and len(texts) == 1 and texts[0].is_file():
            found.append((said, recognised(texts[0].read_text(encoding="utf-8", errors="replace"))))
    return found
