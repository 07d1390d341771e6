"""How sources are written, which of them an allow-list covers, and how models are named by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_gym.infra.errors import ForbiddenError, UsageError
from rl_gym.serving.weights import Source, Terms, model_name, parse_source

PIN = "0" * 64


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("nano", Source("packaged", "nano")),
        ("smol", Source("packaged", "smol")),
        ("./models/mine", Source("folder", "./models/mine")),
        ("gguf:models/m.gguf", Source("gguf", "models/m.gguf")),
        ("hub:Qwen/Qwen2.5-7B-Instruct", Source("hub", "Qwen/Qwen2.5-7B-Instruct")),
        ("hub:Qwen/Qwen2.5-7B@refs/pr/1", Source("hub", "Qwen/Qwen2.5-7B", "refs/pr/1")),
        (f"hub:a/b@main@sha256:{PIN}", Source("hub", "a/b", "main", PIN)),
        (f"gguf:m@home.gguf@sha256:{PIN}", Source("gguf", "m@home.gguf", pin=PIN)),
        ("s3://bucket/models/mine/", Source("s3", "bucket/models/mine")),
    ],
)
def test_a_source_is_read(text: str, source: Source) -> None:
    assert parse_source(text) == source


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1 to 1024 printable"),
        ("a" * 1_025, "1 to 1024 printable"),
        ("a\nb", "1 to 1024 printable"),
        ("hub:Qwen", "hub:ORG/NAME"),
        ("hub:../b", "hub:ORG/NAME"),
        ("hub:a/b/c", "hub:ORG/NAME"),
        ("hub:a/..b", "hub:ORG/NAME"),
        ("hub:a/b@", "'' is no branch, tag or commit"),
        ("hub:a/b@x/../y", "is no branch"),
        ("hub:a/b@-x", "is no branch"),
        ("hub:a/b@sha256:abc", "takes 64 hexadecimal digits"),
        ("s3://bucket", "s3://BUCKET/PREFIX"),
        ("s3://b/x", "s3://BUCKET/PREFIX"),
        ("s3://bucket/../x", "segments of letters"),
        ("s3://bucket/x?endpoint=http://elsewhere", "segments of letters"),
        ("gguf:", "needs a path"),
    ],
)
def test_what_is_no_source_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_source(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nano", "nano"),
        ("/models/mine", "mine"),
        ("org/model-of-an-engine", "org/model-of-an-engine"),
        ("gpt-5:mini", "gpt-5:mini"),
        ("gguf:/models/m.Q4_1.gguf", "m.Q4_1"),
        (f"hub:a/b@main@sha256:{PIN}", "a/b"),
        ("s3://bucket/models/mine", "mine"),
    ],
)
def test_a_model_serves_under_a_short_name(text: str, name: str) -> None:
    assert model_name(text) == name


@pytest.mark.parametrize(
    ("entry", "source"),
    [
        ("packaged", "nano"),
        ("packaged", "smol"),
        ("hub", "hub:a/b"),
        ("hub:a", "hub:a/b"),
        ("hub:a/", "hub:a/b@main"),
        ("hub:a/b", "hub:a/b@v1"),
        ("s3://bucket", "s3://bucket/x/y"),
        ("s3://bucket/x/", "s3://bucket/x/y"),
        ("folder:/models", "/models/mine"),
        ("folder:/models", "/models"),
        ("gguf:/models", "gguf:/models/x/m.gguf"),
    ],
)
def test_an_entry_covers(entry: str, source: str) -> None:
    Terms(allowed=(entry,)).check(parse_source(source))


@pytest.mark.parametrize(
    ("entry", "source"),
    [
        ("hub:a", "hub:ab/c"),
        ("hub:a/b", "hub:a/bc"),
        ("hub", "s3://hub/x"),
        ("s3://bucket", "s3://bucket2/x"),
        ("s3://bucket/x", "s3://bucket/xy"),
        ("folder:/models", "/models/../etc"),
        ("folder:/models", "gguf:/models/m.gguf"),
        ("gguf", "smol"),
    ],
)
def test_an_entry_does_not_cover(entry: str, source: str) -> None:
    with pytest.raises(ForbiddenError, match="RL_GYM_WEIGHTS"):
        Terms(allowed=(entry,)).check(parse_source(source))


def test_a_link_out_of_an_allowed_folder_is_followed_before_it_is_judged(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "out").symlink_to(tmp_path)
    with pytest.raises(ForbiddenError):
        Terms(allowed=(f"folder:{tmp_path}/models",)).check(parse_source(f"{tmp_path}/models/out"))


@pytest.mark.parametrize("entry", ["hbu:Qwen", "everything", "folder:relative", ""])
def test_an_entry_that_means_nothing_is_refused(entry: str) -> None:
    with pytest.raises(UsageError, match="RL_GYM_WEIGHTS"):
        Terms(allowed=(entry,))


def test_by_default_what_is_here_and_the_organisations_of_the_presets_are_allowed() -> None:
    for source in ("nano", "smol", "./mine", "gguf:m.gguf", "hub:ibm-granite/granite-4.1-8b", "hub:Qwen/Qwen2.5-7B"):
        Terms().check(parse_source(source))
    for source in ("hub:someone/model", "s3://bucket/model"):
        with pytest.raises(ForbiddenError):
            Terms().check(parse_source(source))
