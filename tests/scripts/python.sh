#!/usr/bin/env bash
# Builds the Python wheel, installs it into a clean environment, and tests what it gives.
#
# Usage: tests/scripts/python.sh [FOLDER]; FOLDER is for what is compiled (target/python). Needs python3 with venv, and maturin and NumPy from
# PyPI. Takes some minutes the first time, because the library is compiled without the features of the program.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
target="$(realpath -m "${1:-$root/target/python}")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/build"
"$work/build/bin/pip" install --quiet --disable-pip-version-check maturin
CARGO_TARGET_DIR="$target" "$work/build/bin/maturin" build --release --quiet \
    --manifest-path "$root/examples/python/Cargo.toml" --out "$work/wheel"
ls -l "$work/wheel"

python3 -m venv "$work/clean"
"$work/clean/bin/pip" install --quiet --disable-pip-version-check "$work/wheel"/*.whl
cd "$work"
"$work/clean/bin/python3" "$root/tests/scripts/python_wheel.py"
"$work/clean/bin/python3" "$root/examples/python/bend.py"
