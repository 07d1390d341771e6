"""Files to modules: which directory is the root, which modules are called, and what belongs to neither."""

from __future__ import annotations

import pytest

from rl_gym.hcl import UNKNOWN, HclEvaluationError, HclSyntaxError, load
from tests.unit.hcl.folded import configured

CHILD = """
variable "name" {
  type = string
}
variable "size" {
  default = 1
}
resource "aws_s3_bucket" "b" {
  bucket = "${var.name}-${path.module}"
  size   = var.size
}
output "bucket" {
  value = aws_s3_bucket.b.bucket
}
"""


def test_several_files_make_one_module() -> None:
    configuration = configured({"b.tf": "locals {\n  b = local.a\n}\n", "a.tf": "locals {\n  a = 1\n}\n", "x.md": "#"})
    assert configuration.locals == {"a": 1, "b": 1}


def test_the_shallowest_directory_is_the_root() -> None:
    files = {"infra/prod/main.tf": "locals {\n  a = 1\n}\n", "infra/prod/modules/x/main.tf": "locals {\n  b = 1\n}\n"}
    module = load(files)
    assert module.directory == "."
    assert [file.filename for file in module.files] == ["infra/prod/main.tf"]


def test_a_directory_that_is_not_called_is_left_out_even_when_it_is_broken() -> None:
    configuration = configured({"main.tf": "locals {\n  a = 1\n}\n", "examples/main.tf": "locals {"})
    assert configuration.locals == {"a": 1}
    with pytest.raises(HclSyntaxError):
        load({"main.tf": 'module "m" {\n  source = "./examples"\n}\n', "examples/main.tf": "locals {"})


def test_a_module_that_is_called_is_evaluated_with_its_inputs() -> None:
    configuration = configured(
        {
            "main.tf": 'module "m" {\n  source = "./modules/m"\n  name = upper("x")\n}\n'
            'output "o" {\n  value = module.m.bucket\n}\n',
            "modules/m/main.tf": CHILD,
        }
    )
    (bucket,) = configuration.resources()
    assert (bucket.address, bucket.base_address) == ("module.m.aws_s3_bucket.b", "module.m.aws_s3_bucket.b")
    assert (bucket.get("bucket"), bucket.get("size")) == ("X-modules/m", 1)
    assert bucket.filename == "modules/m/main.tf"
    assert configuration.outputs == {"o": "X-modules/m"}


def test_modules_have_instances_too() -> None:
    configuration = configured(
        {
            "main.tf": 'module "c" {\n  source = "./m"\n  count = 2\n  name = "c${count.index}"\n}\n'
            'module "e" {\n  source = "./m"\n  for_each = { k = "v" }\n  name = each.value\n}\n'
            'module "u" {\n  source = "./m"\n  count = var.unset\n  name = "u"\n}\n'
            'module "n" {\n  source = "./m"\n  count = 0\n  name = "n"\n}\nvariable "unset" {}\n'
            'locals {\n  all = module.c[*].bucket\n  one = module.e["k"].bucket\n}\n',
            "m/main.tf": CHILD,
        }
    )
    assert [(one.address, one.created) for one in configuration.resources()] == [
        ("module.c[0].aws_s3_bucket.b", True),
        ("module.c[1].aws_s3_bucket.b", True),
        ('module.e["k"].aws_s3_bucket.b', True),
        ("module.u.aws_s3_bucket.b", UNKNOWN),
        ("module.n.aws_s3_bucket.b", False),
    ]
    assert configuration.locals == {"all": ["c0-m", "c1-m"], "one": "v-m"}


def test_a_module_from_elsewhere_is_unknown_not_absent() -> None:
    configuration = configured(
        'module "vpc" {\n  source  = "terraform-aws-modules/vpc/aws"\n  version = "5.0"\n}\n'
        'resource "aws_a" "x" {\n  vpc = module.vpc.vpc_id\n}\n'
    )
    one = configuration.resource("aws_a.x")
    assert one is not None
    assert one.get("vpc") is UNKNOWN
    assert one.references("vpc") == frozenset()


def test_modules_call_modules_beside_them() -> None:
    configuration = configured(
        {
            "main.tf": 'module "a" {\n  source = "./a"\n}\n',
            "a/main.tf": 'module "b" {\n  source = "../b"\n  name = "n"\n}\n',
            "b/main.tf": CHILD,
        }
    )
    assert [one.address for one in configuration.resources()] == ["module.a.module.b.aws_s3_bucket.b"]


def test_a_value_passes_through_a_module_and_back_without_a_cycle() -> None:
    configuration = configured(
        {
            "main.tf": 'module "a" {\n  source = "./m"\n  name = "n"\n}\n'
            'module "b" {\n  source = "./m"\n  name = module.a.bucket\n  size = module.a.bucket\n}\n',
            "m/main.tf": CHILD,
        }
    )
    assert configuration.resources()[1].get("bucket") == "n-m-m"
    with pytest.raises(HclEvaluationError, match=r"refers to itself|cycle"):
        configured(
            {
                "main.tf": 'module "a" {\n  source = "./m"\n  name = module.b.bucket\n}\n'
                'module "b" {\n  source = "./m"\n  name = module.a.bucket\n}\n',
                "m/main.tf": CHILD,
            }
        )


def test_an_output_that_is_not_there_is_refused() -> None:
    with pytest.raises(HclEvaluationError, match=r'module\.m has no output "nothing"'):
        configured(
            {
                "main.tf": 'module "m" {\n  source = "./m"\n  name = "n"\n}\nlocals {\n  a = module.m.nothing\n}\n',
                "m/main.tf": CHILD,
            }
        )


def test_json_syntax_evaluates_like_the_native_one() -> None:
    configuration = configured(
        {
            "main.tf.json": """{
  "variable": {"name": {"default": "n"}},
  "locals": {"b": "${upper(var.name)}"},
  "resource": {"aws_security_group": {"s": {
    "name": "x-${local.b}",
    "size": 1.5,
    "ingress": [{"from_port": 22, "cidr_blocks": ["0.0.0.0/0"]}],
    "egress": {"from_port": 0},
    "dynamic": {"rule": {"for_each": [1, 2], "content": {"port": "${rule.value}"}}}
  }}}
}"""
        }
    )
    one = configuration.resource("aws_security_group.s")
    assert one is not None
    assert (one.get("name"), one.get("size")) == ("x-N", 1.5)
    assert one.get("ingress.from_port") == 22
    assert [block.get("from_port") for block in one.blocks("egress")] == [0]
    assert [block.get("port") for block in one.blocks("rule")] == [1, 2]
