#!/usr/bin/env bash
# Changes whole files of every format at random for hours and takes what is read through all stages (tests/torture/mutated.rs), other
# changes in every round. Stable Rust; what it finds is printed with the number of the change, and becomes a test in tests/torture.
#
#   tests/scripts/night.sh [HOURS, 8] [CHANGES of each file in a round, 5000]
#   SINEW_FUZZ_ONLY=a.glb,b.ply tests/scripts/night.sh 1
#
# Every round also changes FBX files with their reader, ufbx, which is C, built with the sanitizers of addresses and of undefined behaviour
# (gcc's; tests/scripts/sanitized.sh alone does only that).
#
# Before that, all tests run once with debug assertions and overflow checks, the tests of the core are linted, and what is written of all
# characters is read by other programs; that is not counted either.
#
# A finding is repeated by `SINEW_FUZZ_SALT=… SINEW_FUZZ_CASES=… cargo test --release --test torture mutated_files_of_every_format`.
set -euo pipefail
cd "$(dirname "$0")/../.."

hours="${1:-8}"
export SINEW_FUZZ_CASES="${2:-5000}"
log="target/night.log"
mkdir -p target
# Without the build, which is not counted.
cargo test --release --test torture --no-run
tests/scripts/sanitized.sh --no-run

findings=0
# With as many changes of files as in any other run of the tests.
if ! env -u SINEW_FUZZ_CASES CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=true CARGO_PROFILE_DEV_OVERFLOW_CHECKS=true \
    cargo test --no-fail-fast --target-dir target/checked >>"$log" 2>&1; then
    findings=1
    echo "a test failed with debug assertions and overflow checks; see $log"
fi
if ! cargo clippy --no-default-features --all-targets -- -D warnings >>"$log" 2>&1; then
    findings=$((findings + 1))
    echo "the tests of the core without features do not compile, or have warnings; see $log"
fi
if ! tests/scripts/outputs.sh target/release/sinew >>"$log" 2>&1; then
    findings=$((findings + 1))
    echo "another program does not read what Sinew writes; see $log"
fi
end=$((SECONDS + hours * 3600))
for ((salt = $(date +%s); SECONDS < end; salt++)); do
    echo "== salt $salt" | tee -a "$log"
    if ! SINEW_FUZZ_SALT="$salt" cargo test --release --test torture mutated_ -- --nocapture >>"$log" 2>&1; then
        findings=$((findings + 1))
        echo "something was found with SINEW_FUZZ_SALT=$salt SINEW_FUZZ_CASES=$SINEW_FUZZ_CASES; see $log"
    fi
    if ! SINEW_FUZZ_SALT="$salt" tests/scripts/sanitized.sh >>"$log" 2>&1; then
        findings=$((findings + 1))
        echo "the sanitizers found something with SINEW_FUZZ_SALT=$salt SINEW_FUZZ_CASES=$SINEW_FUZZ_CASES; see $log"
    fi
done
echo "rounds with findings: $findings"
[ "$findings" -eq 0 ]
