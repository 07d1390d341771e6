"""The tree of each construct of the native syntax, and where its nodes stand."""

from __future__ import annotations

import math

import pytest

from rl_gym.hcl import parse
from rl_gym.hcl.ast import Attribute, Binary, Block, Literal, Object, Template, Tuple
from tests.unit.hcl.trees import outline, tree, value

EXPRESSIONS = {
    # literals
    "1": "1",
    "007": "7",
    "1.0": "1",
    "1.50": "1.5",
    "1e3": "1000",
    "15e-1": "1.5",
    "123456789012345678901234567890": "123456789012345678901234567890",
    "1e30": "1000000000000000000000000000000",
    "true": "True",
    "false": "False",
    "null": "None",
    '"x"': "'x'",
    '""': "''",
    r'"\n\r\t\"\\"': r"""'\n\r\t"\\'""",
    r'"\u00e9\U0001F600"': "'é😀'",
    '"$${a} %%{b} $${"': "'${a} %{b} ${'",
    '"$$${a} $ % $$ $x 10%"': "'$${a} $ % $$ $x 10%'",
    '"e\u0301"': "'é'",
    # names, traversals
    "a": "a",
    "var.x": "var.x",
    "a.b.c": "a.b.c",
    "a-b.c-d": "a-b.c-d",
    "a . b": "a.b",
    "é.ü": "é.ü",
    "true.x": "True.x",
    'a[0]["k"][b]': "a[0]['k'][b]",
    "a.0.b": "a[0].b",
    "a[*].b[0].c": "(splat a @.b[0].c)",
    "a[*].b[*].c": "(splat a (splat @.b @.c))",
    "a.*.b.c": "(attributes a @.b.c)",
    "a.*.b.0": "(attributes a @.b[0])",
    "a.*.b[0]": "(attributes a @.b)[0]",
    "f().b": "(f).b",
    '"x".y': "'x'.y",
    # operators
    "1 + 2 * 3": "(+ 1 (* 2 3))",
    "1 * 2 + 3": "(+ (* 1 2) 3)",
    "1 - 2 - 3": "(- (- 1 2) 3)",
    "a || b && c == d < e + f * g": "(|| a (&& b (== c (< d (+ e (* f g))))))",
    "a * b + c < d == e && f || g": "(|| (&& (== (< (+ (* a b) c) d) e) f) g)",
    "a == b != c": "(!= (== a b) c)",
    "a <= b": "(<= a b)",
    "a >= b": "(>= a b)",
    "a > b": "(> a b)",
    "a % b / c": "(/ (% a b) c)",
    "-a + b": "(+ (- a) b)",
    "-a.b[0]": "(- a.b[0])",
    "!a == b": "(== (! a) b)",
    "!!a": "(! (! a))",
    "- -1": "(- (- 1))",
    "(1 + 2) * 3": "(* (parens (+ 1 2)) 3)",
    "a ? b : c": "(if a b c)",
    "a ? b : c ? d : e": "(if a b (if c d e))",
    "a ? b ? c : d : e": "(if a (if b c d) e)",
    "a == b ? c + 1 : d": "(if (== a b) (+ c 1) d)",
    "(a\n? b\n: c)": "(parens (if a b c))",
    "[a\n+ b, c\n.d]": "[(+ a b) c.d]",
    # collections
    "[]": "[]",
    "[1, 2,]": "[1 2]",
    "[\n  1, # one\n  2 // two\n]": "[1 2]",
    "{}": "{}",
    "{ a = 1, b : 2 }": "{'a'=1 'b'=2}",
    '{\n  a = 1 # c\n  "b" = 2\n\n  c = 3,\n}': "{'a'=1 'b'=2 'c'=3}",
    '{ (a) = 1, a.b = 2, "${a}-x" = 3, 1 = 4 }': "{(parens a)=1 a.b=2 <a |-x|>=3 1=4}",
    "{ true = 1, null = 2, if = 3 }": "{'true'=1 'null'=2 'if'=3}",
    "{ a = 1, a = 2 }": "{'a'=1 'a'=2}",
    "{ a == b = 1 }": "{(== a b)=1}",
    "{ é = 1 }": "{'é'=1}",
    "[{ a = [1] }, []]": "[{'a'=[1]} []]",
    # calls
    "f()": "(f)",
    "f(1, a...)": "(f... 1 a)",
    "f(1, 2,)": "(f 1 2)",
    "f (\n1\n)": "(f 1)",
    "true(1)": "(true 1)",
    "provider::aws::f(1)": "(provider::aws::f 1)",
    "a :: b (1)": "(a::b 1)",
    # for
    "[for x in y : x]": "(for x in y: x)",
    "[for k, v in y : v if k]": "(for k,v in y: v if k)",
    "{for k, v in y : k => v}": "(for k,v in y: k=>v)",
    "{\nfor v in y :\n v.a => v...\n if v.b\n}": "(for v in y: v.a=>v... if v.b)",
    "[for in in in : in]": "(for in in in: in)",
    "{ for-x = 1 }": "{'for-x'=1}",
    "[forx]": "[forx]",
    # templates
    '"${a}"': "<a>",
    '"a${b}c"': "<|a| b |c|>",
    '"${a}${b}"': "<a b>",
    '"$$${a}"': "'$${a}'",
    '"%{ if a }b%{ else }c%{ endif }"': "<(%if a <|b|> <|c|>)>",
    '"%{ if a }%{ endif }"': "<(%if a <> <>)>",
    '"%{ for x in y }${x},%{ endfor }"': "<(%for x in y <x |,|>)>",
    '"%{ for k, x in y }%{ if x }${k}%{ endif }%{ endfor }"': "<(%for k,x in y <(%if x <k> <>)>)>",
    '"a  ${~ b ~}  c"': "<|a| b |c|>",
    '"  ${~ a }"': "<|| a>",
    '"a \\n ${~ b ~} \\n "': "<|a| b>",
    '"${a /* } */}"': "<a>",
    '"${a # }\n}"': "<a>",
    '"${"${"x"}"}"': "<<'x'>>",
    '"${{ a = 1 }}"': "<{'a'=1}>",
    '"${f("a", "b${c}")}"': "<(f 'a' <|b| c>)>",
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS.items(), ids=list(EXPRESSIONS))
def test_the_tree_of_an_expression(text: str, expected: str) -> None:
    assert tree(text) == expected


def test_numbers_keep_their_kind() -> None:
    whole, fraction = value("3.0"), value("0.1")
    assert isinstance(whole, Literal)
    assert type(whole.value) is int
    assert isinstance(fraction, Literal)
    assert type(fraction.value) is float
    small = value("1e-300")
    assert isinstance(small, Literal)
    assert isinstance(small.value, float)
    assert math.isclose(small.value, 1e-300)


HEREDOCS = {
    "<<E\na\n  b\nE\n": "'a\\n  b\\n'",
    "<<E\nE\n": "''",
    "<<-E\n    a\n      b\n    E\n": "'a\\n  b\\n'",
    "<<-E\n\n      a\n\n    b\n  E\n": "'\\n  a\\n\\nb\\n'",
    "<<-E\n\t  a\n\tb\n  E\n": "'  a\\nb\\n'",
    "<<-E\n  E\n": "''",
    '<<E\n\\n \\" \\u0041 $${x} %%{x} $x %x\nE\n': "'\\\\n \\\\\" \\\\u0041 ${x} %{x} $x %x\\n'",
    "<<E\na ${b} c\nE\n": "<|a | b | c\n|>",
    "<<E\n${a}E\nE\n": "<a |E\n|>",
    "<<E\n${<<F\nE\nF\n}\nE\n": "<'E\\n' |\n|>",
    "<<E\r\na\r\nE\r\n": "'a\\r\\n'",
    "<<E\nxE\nE x\nE  \n": "'xE\\nE x\\n'",
    "<<a-b\nx\n\ta-b\n": "'x\\n'",
    "<<-E\n    ${a}\n      x\n    E\n": "<a |\n  x\n|>",
    "<<-E\n    %{ if a ~}\n      yes\n    %{ endif ~}\n    z\n    E\n": "<(%if a <|      yes\n|> <>) |    z\n|>",
    "<<E\n    %{ if a ~}\n\n      yes\n    %{~ endif }\n    z\n    E\n": (
        "<|    | (%if a <|\n      yes\n|> <>) |\n    z\n|>"
    ),
    "<<-E\n    a${b ~}\n    b\n      ${~ c ~}\n\n    c\n  E\n": "<|    a| b |    b\n| c |\n    c\n|>",
    "<<-E\n    ${~ a ~}\n    ${b}\n  E\n": "<a |    | b |\n|>",
    "<<-E\n    a\n    %{~ for x in y ~}\n    ${x}\n    %{~ endfor ~}\n    b\n  E\n": (
        "<|    a\n| (%for x in y <|    | x |\n|>) |    b\n|>"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), HEREDOCS.items(), ids=list(HEREDOCS))
def test_the_tree_of_a_heredoc(text: str, expected: str) -> None:
    # What Terraform makes of the last seven was read off `terraform console`.
    assert tree(text) == expected


def test_a_heredoc_ends_where_its_marker_ends() -> None:
    body = parse("a = <<E\nx\nE\nb = [<<-F\n  y\n  F\n  , 2]\n").body
    assert outline(body) == ["a = 'x\\n'", "b = ['y\\n' 2]"]


def test_structure() -> None:
    body = parse(
        """
        /* head */
        resource "aws_s3_bucket" "b" { # why
          bucket = "x" // name
          tags   = { a = 1 }

          versioning { enabled = true }
          empty {}
          rule "a" b "c\\n" {
            dynamic "x" {
              content {
              }
            }
          }
        }
        x = a.b
        """
    ).body
    assert outline(body) == [
        "x = a.b",
        "resource 'aws_s3_bucket' 'b'",
        "  bucket = 'x'",
        "  tags = {'a'=1}",
        "  versioning",
        "    enabled = True",
        "  empty",
        "  rule 'a' 'b' 'c\\n'",
        "    dynamic 'x'",
        "      content",
    ]
    assert [block.type for block in body.blocks[0].body.blocks_of("empty")] == ["empty"]


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# only", "//", "/* a\n b */", "\ufeff", "\ufeffa = 1", "a = 1\r\nb = 2\r\n"]
)
def test_edges_of_a_file(text: str) -> None:
    body = parse(text).body
    assert not body.blocks
    assert set(body.attributes) <= {"a", "b"}


def test_where_things_stand() -> None:
    text = 'resource "a" "b" {\n  name = "x" # c\n  é = [1,\n    a.b + "${\n  c}"] \n  sub { k = v }\n}\n'
    file = parse(text, "dir/x.tf")
    block = file.body.blocks[0]
    assert (file.filename, block.line, block.column) == ("dir/x.tf", 1, 1)
    assert text[block.start : block.end] == text.rstrip("\n")
    name = block.body.attributes["name"]
    assert (name.line, name.column, text[name.start : name.end]) == (2, 3, 'name = "x"')
    accented = block.body.attributes["é"]
    assert (accented.line, accented.column) == (3, 3)
    assert text[accented.start : accented.end] == 'é = [1,\n    a.b + "${\n  c}"]'
    assert isinstance(accented.expression, Tuple)
    one, total = accented.expression.items
    assert (one.line, one.column) == (3, 8)
    assert isinstance(total, Binary)
    assert (total.line, total.column) == (4, 5)
    assert (total.right.line, total.right.column) == (4, 11)
    assert isinstance(total.right, Template)
    inner = total.right.parts[0]
    assert not isinstance(inner, str)
    assert (inner.line, inner.column) == (5, 3)
    nested = block.body.blocks[0]
    assert text[nested.start : nested.end] == "sub { k = v }"


def test_positions_of_many_nodes() -> None:
    text = "".join(f"a{index} = {{ k = {index} }}\n" for index in range(50))
    for index, attribute in enumerate(parse(text).body.attributes.values()):
        assert (attribute.line, attribute.column) == (index + 1, 1)
        assert isinstance(attribute.expression, Object)
        number = attribute.expression.items[0][1]
        assert number.column == text.splitlines()[index].index(f"= {index} ") + 3


def _ends(body_text: str) -> list[tuple[str, str]]:
    body = parse(body_text).body
    nodes: list[Attribute | Block] = [*body.attributes.values(), *body.blocks]
    return [(type(node).__name__, body_text[node.start : node.end]) for node in nodes]


def test_ends_leave_out_blanks_and_comments() -> None:
    text = 'a = 1 \t# c\nb = x.y   \nc = f(1) /* c */\nd = "s"\t\ne = -x\n'
    text += 'f "l" { \n}  # c\ng {} // c\nh { i = 1 } /* c */\ni = !x /* c */\nj = é /* c */ # d\nk = f() /* c */\n'
    assert _ends(text) == [
        ("Attribute", "a = 1"),
        ("Attribute", "b = x.y"),
        ("Attribute", "c = f(1)"),
        ("Attribute", 'd = "s"'),
        ("Attribute", "e = -x"),
        ("Attribute", "i = !x"),
        ("Attribute", "j = é"),
        ("Attribute", "k = f()"),
        ("Block", 'f "l" { \n}'),
        ("Block", "g {}"),
        ("Block", "h { i = 1 }"),
    ]
