"""Countdown: reach a target number with an expression over given numbers, each used at most once."""

from __future__ import annotations

import ast
import operator
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

from rl_gym.gym.core import Component, Episode, Exploit, Gate, Reward
from rl_gym.gym.splits import FrozenSplit, read_frozen
from rl_gym.infra.errors import NotFoundError

SEED = 7
SIZES = {"dev": 64, "holdout": 64, "train": 512}
MAX_CHARACTERS = 200
OPERATORS: Mapping[type[ast.operator], tuple[str, Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
}


@dataclass(frozen=True, slots=True)
class Expression:
    """An answer; `tree` and `value` are there where it is arithmetic that divides by nothing that is zero."""

    text: str
    tree: ast.expr | None = None
    value: Fraction | None = None

    @property
    def valid(self) -> bool:
        return self.value is not None

    @property
    def numbers(self) -> Counter[int]:
        nodes = ast.walk(self.tree) if self.tree is not None else ()
        return Counter(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, int))


class Countdown:
    """Soft components for a value that is exact, or close; hard gates for arithmetic over the given numbers."""

    name = "countdown"
    splits = tuple(SIZES)
    reward = Reward(
        components=(
            Component("exact", lambda action, episode: float(action.value == episode.data["target"]), weight=3.0),
            Component("close", lambda action, episode: _closeness(action, episode.data["target"])),
        ),
        gates=(
            Gate("well_formed", lambda action, episode: action.valid),
            Gate("given_numbers", lambda action, episode: _uses_given(action, episode)),
        ),
        version="countdown@1",
    )

    def episodes(self, split: str) -> Sequence[Episode]:
        if split not in SIZES:
            raise NotFoundError(f"countdown has no split {split!r} (it has: {', '.join(SIZES)})")
        return _episodes()[split]

    def frozen(self) -> Mapping[str, FrozenSplit]:
        folder = files("rl_gym.gym.examples")
        return {name: read_frozen(folder / f"countdown_{name}.txt", name) for name in ("dev", "holdout")}

    def prompt(self, episode: Episode) -> str:
        return f"{episode.request}\nAnswer with the expression alone on the last line.\n"

    def parse(self, completion: str, episode: Episode) -> Expression | None:
        lines = completion.strip().splitlines()
        text = lines[-1].strip() if lines else ""
        # Only digits and signs, and few of them, come before Python's own parser.
        if len(text) > MAX_CHARACTERS or not re.fullmatch(r"[0-9+\-*/() ]+", text):
            return None
        try:
            tree = ast.parse(text, mode="eval").body
            return Expression(text, tree, _value(tree))
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            return Expression(text)

    def oracle(self, episode: Episode) -> str:
        return str(episode.data["solution"])

    def random(self, episode: Episode) -> str:
        return str(episode.data["numbers"][0])

    def checks(self, action: Expression, episode: Episode) -> Mapping[str, str]:
        if action.tree is None:
            return {"arithmetic": "fail", "numbers_given": "na", "target_reached": "na"}
        verdicts = {
            "arithmetic": True,
            "numbers_given": _uses_given(action, episode),
            "target_reached": action.value == episode.data["target"],
        }
        return {name: "pass" if holds else "fail" for name, holds in verdicts.items()}

    def canonical(self, action: Expression) -> str:
        return _shape(action.tree) if action.tree is not None else ""

    def exploits(self) -> Sequence[Exploit]:
        episode = self.episodes("dev")[0]
        target, numbers = episode.data["target"], episode.data["numbers"]
        tricks = {
            "target_itself": (f"{target}", "the answer without the work"),
            "foreign_number": (f"{numbers[0]} + {target - numbers[0]}", "a number that was not given"),
            "number_twice": (f"{numbers[0]} * {numbers[0]}", "a given number used twice"),
            "multiplied_away": (f"{target} + 0 * {numbers[0]}", "the given number is there, and does nothing"),
            "claim": (f"The answer is {target}, correct.", "prose aimed at a lenient reader"),
            "comparison": (f"{target} == {target}", "true, and no number"),
            "import": ("__import__('os').getpid()", "code for a careless eval"),
            "power_tower": ("9 ** 9 ** 9 ** 9", "a number too big to compute"),
            "zero_division": (f"{numbers[0]} / ({numbers[1]} - {numbers[1]})", "no value at all"),
            "wide_digits": (f"{target}".translate({48 + digit: 0xFF10 + digit for digit in range(10)}), "other digits"),
            "solution_then_lie": (f"{self.oracle(episode)}\n{target}", "the last line counts"),
            "nothing": ("", "no answer"),
        }
        return [Exploit(name, episode, completion, why) for name, (completion, why) in tricks.items()]


def make() -> Countdown:
    return Countdown()


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() as number):
            return Fraction(number)
        case ast.BinOp(left, sign, right) if type(sign) in OPERATORS:
            return OPERATORS[type(sign)][1](_value(left), _value(right))
    raise ValueError("no arithmetic")


def _shape(node: ast.expr) -> str:
    """The expression without its numbers, and without the order of what commutes."""
    if not isinstance(node, ast.BinOp):
        return "n"
    sign = OPERATORS[type(node.op)][0]
    sides = [_shape(node.left), _shape(node.right)]
    return f"({sign.join(sorted(sides) if sign in '+*' else sides)})"


def _closeness(action: Expression, target: int) -> float:
    return max(0.0, 1.0 - float(abs(action.value - target) / target)) if action.value is not None else 0.0


def _uses_given(action: Expression, episode: Episode) -> bool:
    return action.tree is not None and action.numbers <= Counter(episode.data["numbers"])


@cache
def _episodes() -> Mapping[str, Sequence[Episode]]:
    """All splits from one seeded stream: no two episodes share their numbers, so that no anchor is trained on."""
    rng = random.Random(SEED)
    seen: set[tuple[int, ...]] = set()
    splits: dict[str, list[Episode]] = {}
    for split, size in SIZES.items():
        own = splits.setdefault(split, [])
        while len(own) < size:
            numbers = tuple(sorted(rng.sample(range(2, 26), 4)))
            solution, value = _random_expression(numbers, rng)
            if numbers in seen or value.denominator != 1 or not 26 <= value <= 250:
                continue
            seen.add(numbers)
            own.append(_episode(f"{split}-{len(own):03d}", numbers, int(value), solution))
    return splits


def _episode(name: str, numbers: Sequence[int], target: int, solution: str) -> Episode:
    listed = f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    request = f"Using {listed}, each at most once, write an expression that equals {target}."
    return Episode(name, request, "generated", {"numbers": list(numbers), "target": target, "solution": solution})


def _random_expression(numbers: Sequence[int], rng: random.Random) -> tuple[str, Fraction]:
    parts = [(str(number), Fraction(number)) for number in rng.sample(numbers, rng.randint(2, len(numbers)))]
    while len(parts) > 1:
        (left, a), (right, b) = (parts.pop(rng.randrange(len(parts))) for _ in range(2))
        sign, apply = rng.choice([pair for kind, pair in OPERATORS.items() if b or kind is not ast.Div])
        parts.append((f"({left} {sign} {right})", apply(a, b)))
    return parts[0]
