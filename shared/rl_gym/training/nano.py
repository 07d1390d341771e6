"""The nano model from nothing: its tokenizer, and a base that writes Terraform the way people do, secure or not.

The base is trained on generated configurations of the training split alone, each protection present or absent by
chance, so that it knows the language and no preference. Most of the projects carry invented names: copying a name that
was never seen is the hard part for a model of this size, and the held-out names must stay unseen.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

from rl_gym.gym.files import read_document, replace_text
from rl_gym.iac.prompts import prompt
from rl_gym.iac.tasks.names import HELD_OUT_PROJECTS
from rl_gym.iac.tasks.parametric import nano_episode, render
from rl_gym.infra.digests import tree_digest
from rl_gym.training.determinism import pin
from rl_gym.training.files import writing
from rl_gym.training.run import Run

__all__ = ["Recipe", "build", "pack", "train_tokenizer"]

PAD, END = "<pad>", "<end>"

_PIECES = r"\n[ ]*|[A-Z]?[a-z]+[0-9]?(?:_[a-z]+[0-9]?)*|[A-Z]+|[0-9]|[^\nA-Za-z0-9]+"
"""A newline with its indent, a word or identifier, a digit, a run of anything else: merges never cross these."""

_SYLLABLES = tuple(
    [c + v for c in "bcdfghjklmnprstvwyz" for v in "aeiou"]
    + [c + v + e for c in "bcdfglmprst" for v in "aeiou" for e in "lnrst"]
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the base is made. With the seed it decides every byte of the result, on one machine."""

    seed: int = 0
    steps: int = 1200
    batch_size: int = 32
    learning_rate: float = 3e-3
    warmup_steps: int = 30
    weight_decay: float = 0.05
    secure: tuple[float, ...] = (0.1, 0.3, 0.5)
    invented_names: float = 0.75
    without_types: float = 0.25
    name_weight: float = 10.0
    copy_weight: float = 4.0
    hidden_size: int = 128
    layers: int = 4
    heads: int = 4
    key_value_heads: int = 2
    feed_forward: int = 384
    context: int = 1024
    vocabulary: int = 1280


@dataclass(frozen=True, slots=True)
class _Text:
    """A prompt, an answer, the project's name, and the other values that the prompt states and the answer repeats."""

    prompt: str
    answer: str
    name: str
    stated: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Example:
    """Token ids of prompt and answer, and the weight of each in the loss (0 in the prompt)."""

    tokens: list[int]
    weights: list[float]


def build(
    output: Path,
    recipe: Recipe | None = None,
    *,
    threads: int = 1,
    progress: Callable[[int, int, float], None] | None = None,
) -> str:
    """Make tokenizer and base in `output` and return the digest of the folder, which is recorded in `build.json`.

    `progress(step, steps, loss)` is called after each step. The folder appears whole or not at all.
    """
    recipe = recipe or Recipe()
    logging.disable_progress_bar()
    pin(recipe.seed, threads)
    tokenizer = train_tokenizer(recipe)
    model = _train(recipe, tokenizer, progress)
    return _save(output, model, tokenizer, {"recipe": asdict(recipe)})


def pack(run: Run, output: Path) -> str:
    """Copy a run's GRPO model to `output` in half precision, as small as the base, and return the folder's digest.

    `build.json` names the run's preset, seed, base and reward. Raises NotFoundError where the run has trained none.
    """
    run.require("grpo")
    folder = run.folder / "grpo" / "model"
    logging.disable_progress_bar()
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    digests = read_document(run.folder / "run.json")["digests"]
    origin = {"preset": run.config.preset, "seed": run.config.seed, **digests, "full_precision": tree_digest(folder)}
    return _save(output, model, tokenizer, {"trained": origin})


def _save(output: Path, model: Any, tokenizer: Any, record: Mapping[str, Any]) -> str:
    """Write the folder whole or not at all, and what it was made of beside its digest."""
    partial = output.with_name(f".{output.name}.partial")
    with writing(output):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        model.half().save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        # safetensors writes for the owner's eyes alone; a packaged model is for everyone's.
        (partial / "model.safetensors").chmod(0o644)
        digest = tree_digest(partial)
        document = {**record, "digest": digest, "torch": torch.__version__}
        replace_text(partial / "build.json", json.dumps(document, indent=2) + "\n")
        shutil.rmtree(output, ignore_errors=True)
        partial.rename(output)
    return digest


def train_tokenizer(recipe: Recipe) -> Any:
    """A byte-level BPE over whole words. Names are left out of its texts, so that all are spelt in pieces."""
    rng = Random(f"nano/tokenizer/{recipe.seed}")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.vocabulary,
        special_tokens=[PAD, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    texts = (_draw(rng, recipe) for _ in range(3000))
    tokenizer.train_from_iterator(((text.prompt + text.answer).replace(text.name, "") for text in texts), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=recipe.context,
    )


def _train(recipe: Recipe, tokenizer: Any, progress: Callable[[int, int, float], None] | None) -> Any:
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=recipe.hidden_size,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            num_key_value_heads=recipe.key_value_heads,
            intermediate_size=recipe.feed_forward,
            max_position_embeddings=recipe.context,
            tie_word_embeddings=True,
            bos_token_id=None,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    model.generation_config = GenerationConfig(pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, betas=(0.9, 0.95), weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, recipe))
    batches = _batches(recipe, tokenizer)
    model.train()
    for step in range(1, recipe.steps + 1):
        loss = _loss(model, next(batches), tokenizer.pad_token_id)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if progress is not None:
            progress(step, recipe.steps, loss.item())
    return model.eval()


def _rate(step: int, recipe: Recipe) -> float:
    """Linear warm-up, then a cosine down to a tenth."""
    warm = min(1.0, (step + 1) / recipe.warmup_steps)
    return warm * (0.55 + 0.45 * math.cos(math.pi * step / recipe.steps))


def _loss(model: Any, batch: list[_Example], pad: int) -> torch.Tensor:
    """Mean cross-entropy over the answers' tokens, each counted with its weight."""
    width = max(len(example.tokens) for example in batch)
    tokens = torch.tensor([example.tokens + [pad] * (width - len(example.tokens)) for example in batch])
    weights = torch.tensor([example.weights + [0.0] * (width - len(example.weights)) for example in batch])[:, 1:]
    logits = model(input_ids=tokens).logits[:, :-1]
    losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
    return (losses.view_as(weights) * weights).sum() / weights.sum()


def _batches(recipe: Recipe, tokenizer: Any) -> Iterator[list[_Example]]:
    """Batches of examples of like length: padding costs as much as text."""
    rng = Random(f"nano/base/{recipe.seed}")
    size = recipe.batch_size
    while True:
        pool = [_encode(_draw(rng, recipe), tokenizer, recipe) for _ in range(16 * size)]
        pool.sort(key=lambda example: len(example.tokens))
        batches = [pool[start : start + size] for start in range(0, len(pool), size)]
        rng.shuffle(batches)
        yield from batches


def _draw(rng: Random, recipe: Recipe) -> _Text:
    episode = nano_episode(rng.randrange(1 << 40), "train")
    required = () if rng.random() < recipe.without_types else episode.data["required"]
    asked = prompt(episode.request, required)
    answer = render(episode, rng.choice(recipe.secure), rng)
    drawn = {str(value) for part in episode.data["stack"] for value in part.values()}
    name: str = episode.data["project"]
    if rng.random() < recipe.invented_names:
        old, name = name, _invent(rng)
        asked, answer, *drawn_again = (re.sub(rf"\b{old}\b", name, text) for text in (asked, answer, *sorted(drawn)))
        drawn = set(drawn_again)
    stated = frozenset(value for value in drawn if re.search(rf"\b{re.escape(value)}\b", asked))
    return _Text(asked, answer, name, stated)


def _invent(rng: Random) -> str:
    while True:
        name = "".join(rng.choice(_SYLLABLES) for _ in range(rng.choice((2, 2, 3))))
        if name not in HELD_OUT_PROJECTS:
            return name


def _encode(text: _Text, tokenizer: Any, recipe: Recipe) -> _Example:
    """What is copied weighs more, the first token of the name most: the rest of it can be looked up behind that one."""
    asked: list[int] = tokenizer(text.prompt)["input_ids"]
    answer = tokenizer(text.answer, return_offsets_mapping=True)
    weights = [1.0] * len(text.answer)
    for value in (*text.stated, text.name):
        for match in re.finditer(rf"\b{re.escape(value)}\b", text.answer):
            weights[match.start() : match.end()] = [recipe.copy_weight] * len(value)
    for match in re.finditer(rf"\b{re.escape(text.name)}\b", text.answer):
        weights[match.start()] = recipe.name_weight
    tokens = [*asked, *answer["input_ids"], tokenizer.eos_token_id]
    return _Example(tokens, [0.0] * len(asked) + [weights[start] for start, _ in answer["offset_mapping"]] + [1.0])
