#!/bin/sh
# nano's GRPO through TRL on a GPU, in bfloat16: steps a second, beside the CPU's. Within ten minutes; fetches nothing.
#
#   sh bench/gpu.sh             on the machine with the GPU, in the repository's root
#   sh bench/gpu.sh pack 3.12   before, where packages can be fetched: what trains, for that Python, as one archive
#
# On the machine, torch with CUDA must be installed for PYTHON (else that of .venv, else python3). TRL and what it needs
# are taken from there too, or out of the archive. Where something is absent it says so and ends with 0.
set -eu

ARCHIVE=build/gpu-packages
MOST=$((64 << 20))
PACKED="accelerate annotated-doc annotated-types anyio certifi click datasets dill filelock fsspec google-re2 h11
httpcore2 httpx2 huggingface-hub idna markdown-it-py mdurl multiprocess packaging pandas peft psutil pyarrow pydantic
pydantic-core pydantic-settings pygments python-dateutil python-dotenv pytz pyyaml regex rich safetensors shellingham six
tokenizers tqdm transformers trl truststore typer typing-extensions typing-inspection tzdata xxhash"

skip() {
	echo "skipped: $1"
	exit 0
}

pack() {
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	pinned=$(for name in $PACKED; do grep -i "^$name==" constraints.txt || true; done)
	# shellcheck disable=SC2086
	"$PYTHON" -m pip install --quiet --no-deps --no-compile --only-binary=:all: --python-version "$1" \
		--implementation cp --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 \
		--target "$folder" $pinned
	rm -rf "$folder"/pyarrow/include "$folder"/pyarrow/tests "$folder"/pandas/tests "$folder"/bin
	mkdir -p build
	tar -C "$folder" -c . | xz -6 -T0 >"$ARCHIVE-$1.tar.xz"
	size=$(wc -c <"$ARCHIVE-$1.tar.xz")
	if [ "$size" -gt "$MOST" ]; then
		echo "error: $ARCHIVE-$1.tar.xz has $size bytes; $MOST may be carried" >&2
		exit 1
	fi
	echo "$ARCHIVE-$1.tar.xz: $size bytes"
}

if [ -z "${PYTHON:-}" ]; then
	PYTHON=python3
	[ ! -x .venv/bin/python ] || PYTHON=.venv/bin/python
fi
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || skip "no Python 3.11 or later at $PYTHON"

if [ "${1:-}" = pack ]; then
	pack "${2:-$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')}"
	exit 0
fi

"$PYTHON" -c 'import torch; assert torch.version.cuda' 2>/dev/null || skip "$PYTHON has no torch that was built with CUDA"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# By this name alone dill knows packages from a user's own code, which it would pickle by value.
packages="$folder/site-packages"
mkdir "$packages"
export PYTHONPATH="$PWD/shared:$packages"
if ! "$PYTHON" -c 'import datasets, peft, pydantic, re2, transformers, trl, typer' 2>/dev/null; then
	version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	[ -f "$ARCHIVE-$version.tar.xz" ] || skip "no TRL for $PYTHON, and no $ARCHIVE-$version.tar.xz: make it by pack"
	tar -C "$packages" -xJf "$ARCHIVE-$version.tar.xz"
fi
# Environments are found by the entry points of an installed rl-gym; a checkout alone has none.
"$PYTHON" - "$packages/rl_gym-0.dist-info" <<'END'
import pathlib, sys, tomllib
from importlib import metadata
try:
    metadata.version("rl-gym")
except metadata.PackageNotFoundError:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: rl-gym\nVersion: 0\n")
    project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]
    points = project["entry-points"]["rl_gym.environments"]
    lines = ["[rl_gym.environments]", *(f"{name} = {place}" for name, place in points.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
END
timeout 570 "$PYTHON" bench/gpu.py
