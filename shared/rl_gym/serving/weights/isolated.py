"""What reads files that others made, in a process of its own: bounded in time, without network, and without their code.

The program says in one line on its standard output why it ended with REFUSED.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rl_gym.infra.errors import InfrastructureError, RlGymError, UsageError, one_line
from rl_gym.infra.tether import tethered

__all__ = ["check_loads", "convert"]

_REFUSED = 3
_CHECK_SECONDS = 120.0
_CONVERT_SECONDS = 180.0
_CONVERT_BYTES_A_SECOND = 2_000_000
_REASON_CHARACTERS = 300


def check_loads(folder: Path, source: object) -> None:
    """Raises UsageError where the architecture is unknown, or the tokenizer cannot be loaded."""
    _run(["check", str(folder)], source, _CHECK_SECONDS)


def convert(file: Path, folder: Path, source: object, most_bytes: int) -> None:
    """Write what a GGUF file holds into `folder`, as safetensors in float32 with its tokenizer; both are known to load.

    Raises UsageError where it cannot be read, or would be larger than `most_bytes`.
    """
    seconds = _CONVERT_SECONDS + file.stat().st_size / _CONVERT_BYTES_A_SECOND
    _run(["convert", str(file.resolve()), str(folder), str(most_bytes)], source, seconds)


def _run(words: Sequence[str], source: object, seconds: float) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "USE_HUB_KERNELS": "0"}
    command = tethered([sys.executable, "-m", __name__, *words])
    try:
        ended = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise InfrastructureError(f"{source}: not read within {seconds:.0f} s") from None
    if ended.returncode == _REFUSED:
        raise UsageError(f"{source} {one_line(ended.stdout.decode(errors='replace'), _REASON_CHARACTERS)}")
    if ended.returncode != 0:
        last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise InfrastructureError(
            f"{source}: what reads it ended with {ended.returncode}: {one_line(last, _REASON_CHARACTERS)}"
        )


def main(words: Sequence[str]) -> int:
    """The program."""
    refusal = ""
    with redirect_stdout(sys.stderr):
        try:
            match words:
                case ["check", folder]:
                    _check(Path(folder))
                case ["convert", file, folder, most_bytes]:
                    _convert(Path(file), Path(folder), int(most_bytes))
                    _check(Path(folder))
                case _:
                    raise UsageError("takes check FOLDER or convert FILE FOLDER BYTES")
        except RlGymError as error:
            refusal = str(error)
    if refusal:
        print(refusal.replace("\n", " "))
        return _REFUSED
    return 0


def _check(folder: Path) -> None:
    from transformers import AutoConfig, AutoTokenizer
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    try:
        config: Any = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        # What foreign files make a library raise is not to be foreseen.
        raise UsageError(
            f"has an unknown architecture, or a config.json that cannot be read: {_first(error)}"
        ) from None
    if config.model_type not in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        raise UsageError(f"is a {config.model_type!r}, which is no causal language model")
    try:
        AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise UsageError(f"has a tokenizer that cannot be loaded: {_first(error)}") from None


def _convert(file: Path, folder: Path, most_bytes: int) -> None:
    import torch
    from gguf import GGUFReader
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    try:
        size = sum(4 * int(tensor.n_elements) for tensor in GGUFReader(file).tensors)
    except Exception as error:
        raise UsageError(f"is no GGUF file that can be read: {_first(error)}") from None
    if size > most_bytes:
        raise UsageError(f"has {size} bytes in float32; RL_GYM_WEIGHTS_BYTES allows {most_bytes}")
    with tempfile.TemporaryDirectory() as alone:
        # Beside the file there may lie others, which the library would read as well.
        (Path(alone) / "model.gguf").symlink_to(file)
        named: dict[str, Any] = {
            "pretrained_model_name_or_path": alone,
            "gguf_file": "model.gguf",
            "local_files_only": True,
            "trust_remote_code": False,
        }
        try:
            tokenizer: Any = AutoTokenizer.from_pretrained(**named)
            read, report = AutoModelForCausalLM.from_pretrained(
                **named,
                dtype=torch.float32,
                # Else it may fetch compiled kernels and run them.
                quantization_config=GgufConfig(dequantize=True),
                output_loading_info=True,
            )
        except Exception as error:
            raise UsageError(f"cannot be converted: {_first(error)}") from None
    if missing := sorted(report["missing_keys"]):
        raise UsageError(f"lacks the weights {missing[0]} (and {len(missing) - 1} more)")
    # What was read counts as quantized for good and refuses to be saved.
    config = read.config
    for name in ("quantization_config", "_model_name_or_path"):
        vars(config).pop(name, None)
    with torch.device("meta"):
        fresh = type(read)(config)
    fresh.load_state_dict(read.state_dict(), assign=True)
    fresh.tie_weights()
    fresh.generation_config = read.generation_config
    fresh.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _first(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(str(error).strip().partition(chr(10))[0], _REASON_CHARACTERS)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
