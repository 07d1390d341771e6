"""The rulebook: every rule within the tokens, and an estimate of tokens that a real tokenizer does not exceed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from rl_gym.iac.environment import make
from rl_gym.iac.rulebook import MOST_TOKENS, most_tokens, rulebook, with_rulebook
from rl_gym.iac.rules import RULESETS, all_rules, get_ruleset
from rl_gym.iac.rules.registry import make_ruleset
from rl_gym.infra.errors import UsageError

_COUNT = """
import json, pathlib, sys
import mistral_common, sentencepiece
data = pathlib.Path(mistral_common.__file__).parent / "data"
model = sentencepiece.SentencePieceProcessor(model_file=str(data / "tokenizer.model.v1"))
print(json.dumps([len(model.encode(text)) for text in json.load(sys.stdin)]))
"""


@pytest.mark.parametrize("name", RULESETS)
def test_every_rule_of_a_ruleset_finds_room(name: str) -> None:
    ruleset = get_ruleset(name)
    book = rulebook(ruleset)
    assert (book.rules, book.left_out) == (len(ruleset.rules), 0)
    assert book.tokens == most_tokens(book.text) <= MOST_TOKENS
    lines = book.text.splitlines()
    assert len(lines) == len(set(lines))
    for one in ruleset.rules:
        assert (one.short or one.fix.removeprefix("set ")) in book.text, one.id
    assert rulebook(ruleset) == book


def test_the_most_severe_stand_first() -> None:
    lines = rulebook(get_ruleset("base")).text.splitlines()
    asked = next(line for line in lines if line.startswith("RDS: ")).removeprefix("RDS: ").split("; ")
    assert asked[0] == "publicly_accessible = false"
    assert asked[-1] == "iam_database_authentication_enabled = true"


def test_where_not_all_find_room_the_least_severe_are_left_out_and_counted() -> None:
    ruleset = get_ruleset("base+drift")
    backwards = make_ruleset("backwards", reversed(ruleset.rules))
    book = rulebook(backwards, 200)
    assert book.tokens <= 200
    assert book.rules + book.left_out == len(ruleset.rules)
    assert book.text.endswith(f"\nand {book.left_out} less severe ones\n")
    critical = [one for one in ruleset.rules if one.severity == "critical"]
    assert all((one.short or one.fix.removeprefix("set ")) in book.text for one in critical)
    assert "retention_in_days" not in book.text
    larger = rulebook(backwards, 200 + most_tokens("; no key for everyone, and one more"))
    assert larger.rules > book.rules


def test_no_room_for_a_single_rule_is_told() -> None:
    with pytest.raises(UsageError, match="10 tokens has no room for a single rule of base"):
        rulebook(get_ruleset("base"), 10)


def test_a_prompt_keeps_its_own_words_behind_the_rulebook() -> None:
    env = make()
    episode = env.episodes("synthetic")[0]
    book = rulebook(get_ruleset("base"))
    assert with_rulebook(env.prompt(episode), book) == f"{book.text}\n{env.prompt(episode)}"


def test_the_page_tells_how_large_they_are() -> None:
    page = (Path(__file__).parents[3] / "docs" / "serving-tables.md").read_text()
    base, more = (rulebook(get_ruleset(name)) for name in ("base", "base+drift"))
    told = f"`base` has {base.rules} rules in at most {base.tokens} tokens, `base+drift` {more.rules} in {more.tokens}."
    assert told in " ".join(page.split())


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("rule", 1), ("rules", 2), ("kms", 2), ("ACL", 2), ("a_b = 12\n", 7), ("SecureTransport", 5), ("é", 2)],
)
def test_how_tokens_are_counted(text: str, tokens: int) -> None:
    assert most_tokens(text) == tokens


def test_a_real_tokenizer_counts_no_more() -> None:
    """The vocabulary of 32,000 that Llama 2 and Mistral 7B share in kind: of those measured it takes the most."""
    python = Path(__file__).parents[3] / ".venv-vllm" / "bin" / "python"
    if not python.is_file():
        pytest.skip("no real tokenizer here: it comes with .venv-vllm (`make vllm`)")
    texts = [rulebook(get_ruleset(name)).text for name in RULESETS]
    texts += [text for one in all_rules().values() for text in (one.title, one.fix, one.short, one.why)]
    done = subprocess.run(
        [python, "-c", _COUNT], input=json.dumps(texts), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    for text, real in zip(texts, json.loads(done.stdout), strict=True):
        assert real <= most_tokens(text), text
