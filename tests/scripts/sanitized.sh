#!/usr/bin/env bash
# Changes FBX files at random, text and binary, and reads them with ufbx built with the sanitizers of addresses and of undefined behaviour.
# Stable Rust; gcc brings the sanitizers. Needs a build of its own, without the window.
#
#   SINEW_FUZZ_CASES=20000 SINEW_FUZZ_SALT=7 tests/scripts/sanitized.sh [--no-run]
set -euo pipefail
cd "$(dirname "$0")/../.."

sanitizers="-fsanitize=address,undefined"
export CC=gcc CFLAGS="$sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer -g1"
# rustc links without gcc's default libraries, so those of the sanitizers are named; they have to be loaded before all others.
export RUSTFLAGS="-C linker=gcc -C link-arg=-lasan -C link-arg=-lubsan"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/sanitized"
# What Rust has allocated is still reachable at the end, but its caches are not freed.
export ASAN_OPTIONS="detect_leaks=0" UBSAN_OPTIONS="print_stacktrace=1"
export SINEW_FUZZ_ONLY="a.fbx,b.fbx"
target="$(rustc --print host-tuple)"
variable="CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")_RUNNER"
export "$variable=env LD_PRELOAD=$(gcc -print-file-name=libasan.so)"
# With a target, the flags are not those of build scripts and macros.
exec cargo test --release --no-default-features --target "$target" --test torture "$@" mutated_files_of_every_format -- --nocapture
