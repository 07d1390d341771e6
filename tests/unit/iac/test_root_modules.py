"""Root modules among files: every folder is in one, with what it calls, and what is kept by tools is in none."""

from __future__ import annotations

import pytest

from rl_gym.iac.root_modules import root_modules

BUCKET = 'resource "aws_s3_bucket" "b" {}\n'


def _call(source: str, name: str = "m") -> str:
    return f'module "{name}" {{\n  source = "{source}"\n}}\n'


def _found(files: dict[str, str]) -> dict[str, list[str]]:
    return {root.folder: sorted(root.files) for root in root_modules(files)}


def test_every_root_is_found_with_what_it_calls() -> None:
    files = {
        "infra/app/main.tf": _call("../../modules/bucket"),
        "infra/app/prod.auto.tfvars": "",
        "infra/network/main.tf": _call("../../modules/bucket", "other"),
        "modules/bucket/main.tf": _call("./policy"),
        "modules/bucket/policy/main.tf.json": "{}",
        "README.md": "",
    }
    shared = ["../../modules/bucket/main.tf", "../../modules/bucket/policy/main.tf.json"]
    assert _found(files) == {
        "infra/app": [*shared, "main.tf", "prod.auto.tfvars"],
        "infra/network": [*shared, "main.tf"],
    }
    app, _ = root_modules(files)
    assert app.path("../../modules/bucket/main.tf") == "modules/bucket/main.tf"
    assert app.files["../../modules/bucket/main.tf"] == files["modules/bucket/main.tf"]


@pytest.mark.parametrize("source", ["./.", "../a"])
def test_a_module_that_calls_itself_is_a_root(source: str) -> None:
    assert _found({"a/main.tf": _call(source), "b/main.tf": BUCKET}) == {"a": ["main.tf"], "b": ["main.tf"]}


def test_a_circle_beside_a_root_is_judged_too() -> None:
    files = {"a/main.tf": _call("../b"), "b/main.tf": _call("../a"), "c/main.tf": BUCKET}
    assert _found(files) == {"c": ["main.tf"], "a": ["../b/main.tf", "main.tf"]}


def test_a_call_in_json_counts() -> None:
    json = '{"module": {"m": {"source": "./sub"}}}'
    assert _found({"main.tf.json": json, "sub/main.tf": BUCKET}) == {".": ["main.tf.json", "sub/main.tf"]}


def test_what_cannot_be_read_calls_none_and_is_in_a_root_all_the_same() -> None:
    files = {"main.tf": f"{_call('./sub')}}}", "sub/main.tf": BUCKET}
    assert _found(files) == {".": ["main.tf"], "sub": ["main.tf"]}


def test_what_tools_keep_is_no_module() -> None:
    files = {"main.tf": BUCKET, ".terraform/modules/m/main.tf": BUCKET, "web/node_modules/x/main.tf": BUCKET}
    assert _found(files) == {".": ["main.tf"]}


def test_files_without_source_are_one_module() -> None:
    assert _found({"notes/a.txt": "", ".hidden.tf": BUCKET}) == {".": [".hidden.tf", "notes/a.txt"]}
