#!/usr/bin/env bash
# Measures a graphics card: builds, runs `sinew bench --device gpu --suite`, runs the tests that need a card, and prints a table.
#
#   tests/scripts/card.sh [-o FOLDER] [--only suite|tests] [--tiny | --large] [BUILT]
#
# BUILT: a folder with executables made elsewhere: sinew, and for the tests gpu and render (or gpu-HASH, as in target/release/deps). Without
# it everything is built here, offline if there is a folder vendor/ (made by `cargo vendor`) or CARGO_NET_OFFLINE is set.
# -o FOLDER: where card.jsonl and the logs go [here]. Results are written as they are made: what there is stays if the machine is taken away.
# --large: of the suite only the large sizes of flesh, in case the time ran out. --tiny: tiny characters and no tests, to try this script
# on software Vulkan.
# Exits with 1 if anything failed.
set -uo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"

out=. only=all size=full built=""
while [ $# -gt 0 ]; do
    case "$1" in
        -o) out="${2:?-o takes a folder}"; shift ;;
        --only) only="${2:?--only takes suite or tests}"; shift ;;
        --tiny) size=tiny ;;
        --large) size=large ;;
        -*) echo "there is no option $1; see the head of $0" >&2; exit 2 ;;
        *) built="$1" ;;
    esac
    shift
done
case "$only" in
    all | suite | tests) ;;
    *) echo "--only takes suite or tests, not $only" >&2; exit 2 ;;
esac
mkdir -p "$out" || exit 1
out="$(cd "$out" && pwd)"
failed=0

# What is missing is said before anything takes time.
libraries="$(ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null)"
if [ -n "$libraries" ] && [[ "$libraries" != *libvulkan.so.1* ]]; then
    echo "note: there is no Vulkan loader (libvulkan.so.1): install libvulkan1"
fi
if [ -z "$(ls /usr/share/vulkan/icd.d /etc/vulkan/icd.d 2>/dev/null)${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then
    echo "note: no Vulkan driver is installed: nothing in /usr/share/vulkan/icd.d and /etc/vulkan/icd.d"
fi
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
command -v python3 >/dev/null || echo "note: there is no python3: the table is not printed"

# Newest executable of this name in the folder, with or without a hash.
executable() {
    local found
    found="$(find "$built" -maxdepth 1 -type f -perm -u+x \( -name "$1" -o -name "$1-????????????????" \) -printf '%T@ %p\n' | sort -rn | head -n 1)"
    echo "${found#* }"
}

tests=()
if [ -n "$built" ]; then
    built="$(cd "$built" && pwd)" || exit 1
    sinew="$(executable sinew)"
    if [ -z "$sinew" ]; then
        echo "error: there is no executable sinew in $built" >&2
        exit 1
    fi
    for name in gpu render; do
        test="$(executable "$name")"
        if [ -n "$test" ]; then
            tests+=("$test")
        elif [ "$only" != suite ] && [ "$size" != tiny ]; then
            echo "SKIPPED: the tests of $name: there is no executable of this name in $built"
        fi
    done
elif command -v cargo >/dev/null; then
    cd "$root" || exit 1
    offline=()
    if [ -d vendor ] || [ -n "${CARGO_NET_OFFLINE:-}" ]; then
        offline=(--offline)
    fi
    start=$SECONDS
    cargo build --release "${offline[@]}" || exit 1
    echo "building took $((SECONDS - start)) s"
    sinew="${CARGO_TARGET_DIR:-target}/release/sinew"
else
    echo "error: there is no cargo here; give a folder with executables made elsewhere: $0 BUILT" >&2
    exit 1
fi

if [ "$only" != tests ]; then
    start=$SECONDS
    if ! "$sinew" bench --device gpu --suite="$size" --json >"$out/card.jsonl" 2>"$out/card.log"; then
        failed=1
        grep -a '^error: ' "$out/card.log" || tail -n 5 "$out/card.log"
    fi
    echo "the suite took $((SECONDS - start)) s; it is in $out/card.jsonl"
fi

if [ "$only" != suite ] && [ "$size" != tiny ]; then
    export SINEW_REQUIRE_GPU=1
    start=$SECONDS
    if [ -n "$built" ]; then
        for test in ${tests[@]+"${tests[@]}"}; do
            echo "== $(basename "$test")"
            "$test" 2>&1 | tee "$out/$(basename "$test").log" | grep -aE '^test .*FAILED|^test result|panicked|^SKIPPED'
            [ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
        done
    else
        cargo test --release "${offline[@]}" --test gpu --test render 2>&1 | tee "$out/tests.log" |
            grep -aE '^test .*FAILED|^test result|panicked|^SKIPPED|^error'
        [ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
    fi
    echo "the tests took $((SECONDS - start)) s"
fi

if [ "$only" != tests ] && command -v python3 >/dev/null; then
    python3 "$root/tests/scripts/card_table.py" "$out/card.jsonl" || failed=1
fi
exit $failed
