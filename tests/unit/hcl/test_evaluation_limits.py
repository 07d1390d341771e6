"""Every bound on evaluation, with a text made to exceed it, and texts made to take long or much."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import pytest

from rl_gym.hcl import HclError, HclLimitError, Limits, evaluate, load
from rl_gym.hcl.limits import DEFAULT
from tests.unit.hcl.folded import configured, fold

FAR_TOO_LONG = 2.0
"""Seconds of processor time. What is not bounded takes minutes, or all of the memory."""


def chain(first: str, step: str, length: int = 40) -> str:
    """Locals that are each made from the one before, which `step` calls `@`."""
    lines = [f"  l{at} = {step.replace('@', f'local.l{at - 1}')}" for at in range(1, length)]
    return "locals {\n  l0 = " + first + "\n" + "\n".join(lines) + "\n}\n"


def many(declared: str, expression: str, number: int = 900) -> str:
    """One expression many times."""
    return "locals {\n" + declared + "".join(f"  m{at} = {expression}\n" for at in range(number)) + "}\n"


def one(expression: str, name: str = "x") -> str:
    return f"locals {{\n  {name} = {expression}\n}}\n"


def resource(name: str, body: str) -> str:
    return f'resource "aws_a" "{name}" {{\n  {body}\n}}\n'


def dynamic(name: str, content: str) -> str:
    """A dynamic block made a thousand times."""
    return f'dynamic "{name}" {{\n  for_each = range(1000)\n  content {{\n{content}\n  }}\n}}\n'


# ---- each bound ------------------------------------------------------------------------------------------------------

EXCEEDED = {
    "max_steps": (Limits(max_steps=100), one("[for a in range(60) : a]"), one("[for a in range(10) : a]")),
    "max_text": (Limits(max_text=10), one('format("%11s", "")'), one('format("%10s", "")')),
    "max_items": (Limits(max_items=5), one("concat([1, 2, 3], [4, 5, 6])"), one("concat([1, 2], [3, 4, 5])")),
    "max_value_depth": (Limits(max_value_depth=2), one("[[[[1]]]]"), one("[[[1]]]")),
    "max_instances": (
        Limits(max_instances=3),
        'resource "aws_a" "x" {\n  count = 4\n}\n',
        'resource "aws_a" "x" {\n  count = 3\n}\n',
    ),
}


@pytest.mark.parametrize("name", EXCEEDED)
def test_a_bound_is_exceeded_and_its_error_says_how_to_raise_it(name: str) -> None:
    limits, too_much, just_enough = EXCEEDED[name]
    configured(just_enough, limits=limits)
    with pytest.raises(HclLimitError, match=rf"raise Limits\.{name} if it is meant") as caught:
        configured(too_much, limits=limits)
    # Who scans from a command line can raise none.
    assert "Limits" not in str(caught.value)
    assert (caught.value.filename, caught.value.line) == ("main.tf", 2)
    configured(too_much)


def test_modules_call_modules_only_so_deep() -> None:
    deepest = DEFAULT.max_module_depth
    folders = ["", *(f"m{level}/" for level in range(1, deepest + 2))]
    files = {
        f"{folder}main.tf": f'module "m" {{\n  source = "{"../" if folder else "./"}{below}"\n}}\n'
        for folder, below in pairwise(folders)
    }
    configured({**files, f"m{deepest}/main.tf": ""})
    with pytest.raises(HclLimitError, match=r"raise Limits\.max_module_depth"):
        configured({**files, f"m{deepest + 1}/main.tf": ""})


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"main.tf": 'module "m" {\n  source = "./"\n}\n'}, "main.tf:1:1: module.m"),
        (
            {"main.tf": 'module "m" {\n  source = "./m"\n}\n', "m/main.tf": 'module "n" {\n  source = "../"\n}\n'},
            "m/main.tf:1:1: module.n",
        ),
        (
            {"main.tf": 'module "m" {\n  source = "./m"\n}\n', "m/main.tf": '\nmodule "n" {\n  source = "../m"\n}\n'},
            "m/main.tf:2:1: module.n",
        ),
    ],
    ids=["itself", "its caller", "below"],
)
def test_a_module_may_not_call_itself(files: dict[str, str], place: str) -> None:
    with pytest.raises(HclError) as caught:
        configured(files)
    assert str(caught.value) == f"{place} calls the module that it stands in, which has no end"


@pytest.mark.parametrize(
    "text",
    [
        'resource "aws_a" "x" {\n  for_each = toset([for i in range(1001) : tostring(i)])\n}\n',
        'resource "aws_a" "x" {\n  dynamic "b" {\n    for_each = range(1001)\n    content {}\n  }\n}\n',
        'module "m" {\n  source = "./m"\n  count = 1001\n}\n',
    ],
)
def test_everything_with_instances_is_bounded(text: str) -> None:
    with pytest.raises(HclLimitError, match=r"Limits\.max_instances"):
        configured(text)


def test_numbers_are_bounded() -> None:
    with pytest.raises(HclLimitError, match="beyond 2 to the power of 4096"):
        configured(chain("12345678901234567890", "@ * @"))


def test_limits_that_are_raised_allow_more() -> None:
    text = 'resource "aws_a" "x" {\n  count = 2000\n}\n'
    limits = replace(DEFAULT, max_instances=2000, max_steps=10**6)
    assert len(configured(text, limits=limits).resources()) == 2000


def test_try_does_not_hide_a_limit() -> None:
    with pytest.raises(HclLimitError):
        fold('try(format("%999999999d", 1), "hidden")')


# ---- what a hostile author would write -------------------------------------------------------------------------------

REFUSED = {
    "count": resource("x", "count = 100000"),
    "many counts": "".join(resource(f"x{i}", "count = 1000\n  b = { c = count.index }") for i in range(20)),
    "for_each": resource("x", "for_each = { for i in range(1024) : i => i }"),
    "doubling lists": chain("[1, 2]", "concat(@, @)"),
    "nesting lists": chain("[1, 2]", "[@, @]"),
    "nesting maps": chain("{ a = 1 }", "{ a = @, b = @ }"),
    "deep lists": chain("[1]", "[@]", 200),
    "flattened lists": chain("[1, 2]", "flatten([@, @])"),
    "growing maps": chain("{ a = 1 }", 'merge(@, { for k, v in @ : "${k}x${length(@)}" => v })'),
    "templates": chain('"ab"', '"${@}${@}"'),
    "unknown templates": 'variable "u" {}\n' + chain('"a${var.u}"', '"${@}${@}"'),
    "format": chain('"ab"', 'format("%s%s", @, @)'),
    "join": chain('"ab"', "join(@, [@, @])"),
    "replace": chain('"aa"', 'replace(@, "a", "aa")'),
    "replace by a pattern": chain('"aa"', 'replace(@, "/a/", "aa")'),
    "jsonencode": chain('"\\"\\"\\""', "jsonencode(@)", 60),
    "a cube": one("[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a * b * c]]]"),
    "a square of nothing": one("[for a in range(1000) : [for b in range(1000) : 1 if false]]"),
    "a square of text": one('"%{ for a in range(1000) }%{ for b in range(1000) }x%{ endfor }%{ endfor }"'),
    "width": one('format("%0999999999d", 1)'),
    "precision": one('format("%.999999999f", 1.5)'),
    "many widths": one('format("' + "%99999d" * 500 + '", ' + ", ".join(["1"] * 500) + ")"),
    "widths of a list": one('formatlist("%9999d", range(1000))'),
    "indent": one('indent(1000000000, "a\\nb")'),
    "a product of sets": one("setproduct(range(1000), range(1000), range(1000))"),
    "subnets": one('[for j in range(100) : cidrsubnets("::/0", [for i in range(1000) : 32]...)]'),
    "deep JSON": one('jsondecode("' + "[" * 20000 + "]" * 20000 + '")'),
    "wide JSON": one('jsondecode("[' + "1," * 30000 + '1]")'),
    "a pattern with many groups": one('regexall("' + "(a|b)*" * 250 + '", "' + "ab" * 10000 + '")'),
    "a pattern that looks far ahead": one('regexall("(a*)b|a", "' + "a" * 20000 + '")'),
    "a large pattern": one('regexall("' + "(?:\\\\pL{90}){10}" * 6 + '", "a")'),
    "many patterns": "".join(one(f'regexall("(?:(?:a|b){{10}}){{50}}c{i}", "a")', f"l{i}") for i in range(500)),
    "dynamic blocks": resource("x", dynamic("b", dynamic("c", ""))),
    "dynamic blocks of many": resource("x", "count = 1000\n" + dynamic("b", "")),
    "sorting": many("  r = [for i in range(1000) : tostring(i)]\n", "sort(local.r)"),
    "searching": many("  r = [for i in range(1000) : tostring(i)]\n", 'contains(local.r, "x")'),
    "comparing": many("  r = range(1000)\n  s = range(1000)\n", "local.r == local.s"),
    "choosing": many("  r = range(1000)\n  s = range(999)\n", "true ? local.r : local.s"),
    "distinct": one("distinct([for i in range(1000) : [for j in range(100) : i * j]])"),
    "hashing": many('  s = format("%200000d", 1)\n', "md5(local.s)"),
    "characters": many('  s = "' + "é\u0301" * 5000 + '"\n', "length(local.s)"),
    "unknown references": many("  r = [for i in range(1000) : aws_a.x[i].id]\n", "local.r[var.u]"),
    "a chain of unknowns": "".join(resource(f"r{i}", f"p = aws_a.r{i + 1}.p") for i in range(700)),
    "policies of policies": "".join(
        f'data "aws_iam_policy_document" "p{i}" {{\n  source_policy_documents = [for n in range(2) : '
        f"data.aws_iam_policy_document.p{i + 1}.json]\n}}\n"
        for i in range(60)
    )
    + 'data "aws_iam_policy_document" "p60" {\n  statement {\n    actions = ["*"]\n  }\n}\n',
    "modules": 'module "m" {\n  source = "./m"\n  count = 1000\n}\n',
}
CHILD = 'variable "x" {\n  default = 1\n}\n' + one("[for a in range(1000) : a]")
ANSWERED = {
    "range": one("try(range(0, 1e9), 1)"),
    "pow": one("try(pow(10, 1e9), 1)"),
    "a pattern that backtracks": one('replace("' + "a" * 5000 + '", "/(a+)+$/", "x")'),
    "another": one('replace("' + "a" * 5000 + 'b", "/^(a|a)*$/", "x")'),
    "long digits": one('try(tonumber("' + "9" * 50000 + '"), parseint("' + "9" * 5000 + '", 10), 1)'),
    "long exponents": one('try(tonumber("1e99999999999"), 1)'),
    "a long chain": "locals {\n" + "".join(f"  l{i} = local.l{i + 1}\n" for i in range(1200)) + "  l1200 = 1\n}\n",
    "a chain of resources": resource("r700", "p = 1")
    + "".join(resource(f"r{i}", f"p = aws_a.r{i + 1}.p") for i in range(700)),
    "sums": chain("1", "@ + @", 900),
    "many tries": many("  r = {}\n", "try(local.r.x.y, 1)", 600),
    "a thousand instances": resource("x", 'count = 1000\n  b = "n-${count.index}"'),
    "modules of modules": 'module "a" {\n  source = "./m"\n}\nmodule "b" {\n  source = "./m"\n}\n',
}


def answered(text: str) -> HclError | None:
    """The error that reading and evaluating a text ends with, in bounded time."""
    start = time.process_time()
    error: HclError | None = None
    try:
        configuration = evaluate(load({"main.tf": text, "m/main.tf": CHILD}))
    except HclError as caught:
        error = caught
    else:
        for found in (*configuration.resources(), *configuration.data()):
            found.attributes()
        assert len(configuration.locals) >= 0
    assert time.process_time() - start < FAR_TOO_LONG
    return error


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_take_too_much_is_refused(name: str) -> None:
    assert isinstance(answered(REFUSED[name]), HclLimitError)


@pytest.mark.parametrize("name", ANSWERED)
def test_what_looks_bad_is_answered(name: str) -> None:
    assert answered(ANSWERED[name]) is None


EVERYTHING = """
variable "unset" {}
variable "sizes" {
  type    = list(number)
  default = ["1", 2]
}
locals {
  list  = [for size in var.sizes : size * 2 if size > 0]
  map   = { for size in var.sizes : "k${size}" => [size] }
  text  = "%{ for k, v in local.map }${k}-${v[0]} %{ endfor }${var.unset}"
  call  = formatlist("%s-%s", keys(local.map), [upper("a"), var.unset])
  splat = values(local.map)[*][0]
  test  = local.list == [2, 4] ? local.list : [1, "2"]
  index = local.list[var.unset]
  regex = replace("aab", "/a+/", "x")
  json  = jsondecode(jsonencode({ a = local.list, b = var.unset }))
  out   = [module.none, module.one.list, module.many[*].list]
}
data "aws_iam_policy_document" "d" {
  dynamic "statement" {
    for_each = local.map
    content {
      sid     = statement.key
      actions = statement.value
    }
  }
}
resource "aws_a" "x" {
  for_each = local.map
  policy   = data.aws_iam_policy_document.d.json
  size     = aws_b.y[0].size
}
resource "aws_b" "y" {
  count = length(local.list)
  size  = [count.index, local.text]
}
module "one" {
  source = "./m"
}
module "many" {
  source = "./m"
  count  = 2
}
module "none" {
  source = "./m"
  count  = 0
}
provider "aws" {
  regions = local.list
}
output "o" {
  value = module.one
}
"""
INNER = 'output "list" {\n  value = [for i in range(3) : i]\n}\n'


def test_whatever_the_budget_runs_out_on_is_a_limit_error() -> None:
    module = load({"main.tf": EVERYTHING, "m/main.tf": INNER})
    places = []
    for steps in range(700):
        try:
            evaluate(module, limits=Limits(max_steps=steps))
        except HclLimitError as error:
            places.append((error.filename, error.line))
    assert ("main.tf", 1) not in places
    assert 100 < len(places) < 700
    assert len(set(places)) > 8
