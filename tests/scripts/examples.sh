#!/usr/bin/env bash
# Runs every example at a small size, so that none stops working unnoticed.
#
# Usage: tests/scripts/examples.sh [FOLDER]: the folder of the built examples, by default target/release/examples.
# Exits with 1 if an example fails, or if one in examples/ is not listed here.
set -uo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
built="$(cd "${1:-$root/target/release/examples}" && pwd)"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
# Nothing is left in the folders of whoever runs this.
export HOME="$out" XDG_CACHE_HOME="$out/cache" XDG_CONFIG_HOME="$out/config" XDG_DATA_HOME="$out/data"

failed=0
ran=" "
# NAME [ARGUMENT...]: what the example prints is shown only if it fails.
example() {
    local name="$1" start=$SECONDS
    shift
    ran+="$name "
    if timeout 300 "$built/$name" "$@" >"$out/log" 2>&1; then
        echo "$name: $((SECONDS - start)) s"
    else
        echo "FAILED: $name $*"
        tail -n 30 "$out/log"
        failed=1
    fi
}

example compare_methods
example convergence -o "$out" builtin:cylinder
example device_cost --sim-vertices 300 builtin:cylinder
example global_solvers --vertices 300 builtin:cylinder
example make_characters --only cylinder --rough --preview "$out/made.png"
example paper_figures "$out" candy_wrapper elbow
example play_a_clip
example pose_a_character "$out/posed.obj"
example scaling 1000
example stalls builtin:cylinder
example survey -o "$out/survey.png" builtin:cylinder
example ten_lines
example torture_flesh --steps 200 builtin:cylinder
example upsampling "$out/upsampling.png"
example weights_by_methods 1 builtin:cylinder

# A folder with a manifest of its own is another package: examples/python, which tests/scripts/python.sh builds and runs.
for source in "$root"/examples/*; do
    [ -e "$source/Cargo.toml" ] && continue
    name="$(basename "$source" .rs)"
    case "$ran" in
        *" $name "*) ;;
        *) echo "FAILED: $name is not in tests/scripts/examples.sh"; failed=1 ;;
    esac
done
exit $failed
