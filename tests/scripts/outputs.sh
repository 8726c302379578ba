#!/usr/bin/env bash
# What Sinew writes, read by other programs: the Khronos validator, three.js (both by npm), NumPy, Pixar's USD (by pip), and Blender where it is installed.
#
# Usage: tests/scripts/outputs.sh [--every N] [SINEW [CHARACTER...]]; without characters the built-in ones, and those in
# $SINEW_TEST_DATA, of which --every N takes each Nth.
# Each check that this machine cannot make is reported by a line SKIPPED. Exits with 1 if a check fails, or if npm fails although its
# registry answers.
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
every=1
if [ "${1:-}" = --every ]; then
    every="$2"
    shift 2
fi
sinew="${1:-target/release/sinew}"
shift || true
characters=("$@")
if [ ${#characters[@]} -eq 0 ]; then
    characters=(builtin:mannequin builtin:gecko builtin:cylinder builtin:arm)
    if [ -n "${SINEW_TEST_DATA:-}" ]; then
        of_data=("$SINEW_TEST_DATA"/A_rigged/*/*.{glb,gltf,vrm})
        for ((index = 0; index < ${#of_data[@]}; index += every)); do
            characters+=("${of_data[$index]}")
        done
    else
        echo "SKIPPED: characters of the test data: SINEW_TEST_DATA is not set"
    fi
fi
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT

failed=0
has_node=no
if ! command -v npm >/dev/null; then
    echo "SKIPPED: the Khronos validator and three.js: npm is not installed"
elif [ -d "$here/node_modules/three" ] && [ -d "$here/node_modules/gltf-validator" ] && [ -d "$here/node_modules/draco3dgltf" ]; then
    has_node=yes
elif (cd "$here" && timeout 300 npm install --no-fund --no-audit --no-package-lock >"$out/npm.log" 2>&1); then
    has_node=yes
elif timeout 60 npm view three version >/dev/null 2>&1; then
    # The registry answers, so the fault is here.
    echo "FAILED: npm install in tests/scripts"
    tail -n 20 "$out/npm.log"
    failed=1
else
    echo "SKIPPED: the Khronos validator and three.js: the registry of npm does not answer"
fi
has_usd=no
if python3 -c "import pxr" 2>/dev/null; then
    has_usd=yes
elif ! python3 -m venv "$out/usd" 2>/dev/null; then
    echo "SKIPPED: reading with Pixar's USD: python3 makes no virtual environments"
elif timeout 300 "$out/usd/bin/pip" install --quiet --disable-pip-version-check usd-core numpy >"$out/pip.log" 2>&1; then
    has_usd=yes
    usd_python="$out/usd/bin/python3"
else
    echo "SKIPPED: reading with Pixar's USD: pip cannot install usd-core"
fi
usd_python="${usd_python:-python3}"
has_blender=no
if command -v blender >/dev/null; then has_blender=yes; else echo "SKIPPED: reading with Blender: it is not installed"; fi

check() {
    "$@" || failed=1
}

# All readers of what is written of one character.
readers() (
    character="$1"
    case "$character" in
        builtin:*) name="${character#builtin:}" ;;
        *) [ -f "$character" ] || exit 0; name="$(basename "$(dirname "$character")")" ;;
    esac
    clip=()
    "$sinew" bake "$character" --method lbs --clip 0 --pose-out "$out/$name.pose.json" --quiet 2>/dev/null && clip=(--clip 0)
    frames=(--frames 2-16 --fps 30)
    check "$sinew" bake "$character" --rig -o "$out/$name.rig.glb" --quiet
    check "$sinew" bake "$character" --rig --compress -o "$out/$name.small.rig.glb" --quiet
    check "$sinew" bake "$character" --method lbs "${clip[@]}" "${frames[@]}" --compress -o "$out/$name.small.glb" --quiet
    for kind in glb json pc2 mdd; do
        check "$sinew" bake "$character" --method lbs "${clip[@]}" "${frames[@]}" -o "$out/$name.$kind" --one-cache --quiet
    done
    check python3 "$here/point_caches.py" "$out/$name.json" 30 2 "$out/$name.pc2" "$out/$name.mdd"
    if [ $has_node = yes ]; then
        check node "$here/validate.mjs" "$out/$name.glb" "$out/$name.rig.glb" "$out/$name.small.glb" "$out/$name.small.rig.glb"
        check node "$here/three_positions.mjs" "$out/$name.small.glb" "$out/$name.json" 30 2
        check node "$here/three_positions.mjs" "$out/$name.small.rig.glb" "$out/$name.json" 30 2
        check node "$here/three_positions.mjs" "$out/$name.glb" "$out/$name.json" 30 2
        check node "$here/three_positions.mjs" "$out/$name.rig.glb" "$out/$name.json" 30 2
        for how in "edgebreaker 5" "edgebreaker 0" "sequential 7"; do
            read -ra words <<<"$how"
            check node "$here/draco.mjs" "$out/$name.rig.glb" "$out/$name.draco.glb" "$out/$name.plain.glb" "${words[@]}"
            for kind in draco plain; do
                check "$sinew" bake "$out/$name.$kind.glb" --method lbs "${clip[@]}" "${frames[@]}" -o "$out/$name.$kind.json" --quiet
            done
            check node "$here/draco.mjs" "$out/$name.draco.json" "$out/$name.plain.json"
        done
    fi
    if [ $has_usd = yes ]; then
        for kind in usda usdc; do
            check "$sinew" bake "$character" --method lbs "${clip[@]}" "${frames[@]}" -o "$out/$name.$kind" --quiet
            check "$sinew" bake "$character" --rig --influences 64 -o "$out/$name.rig.$kind" --quiet
        done
        check "$usd_python" "$here/usd_positions.py" "$out/$name.json" 30 2 "$out/$name".usd[ac] "$out/$name".rig.usd[ac]
        # And back: what Pixar's library writes of the rig.
        check "$usd_python" "$here/usd_rewritten.py" "$out/$name.rig.usda" "$out/$name.pixar.usdc" "$out/$name.pixar.usdz"
        for kind in usdc usdz; do
            check "$sinew" bake "$out/$name.pixar.$kind" --method lbs "${clip[@]}" "${frames[@]}" -o "$out/$name.$kind.json" --quiet
            check "$usd_python" "$here/usd_rewritten.py" "$out/$name.json" "$out/$name.$kind.json"
        done
    fi
    # A rig with morphs: glTF as Sinew plays it, USD as Pixar's library does. The mannequin takes longest, and has nothing that the others
    # do not have.
    if [ ${#clip[@]} -gt 0 ] && [[ "$character" == builtin:* ]] && [ "$name" != mannequin ]; then
        distilled=(--method dqs "${clip[@]}" --held-back none --bones 8 --morphs 4 --quiet)
        check "$sinew" distill "$character" "${distilled[@]}" -o "$out/$name.morphed.glb"
        [ $has_node = no ] || check node "$here/validate.mjs" "$out/$name.morphed.glb"
    fi
    if [ $has_usd = yes ] && [ -f "$out/$name.morphed.glb" ]; then
        for kind in usda usdc; do
            check "$sinew" distill "$character" "${distilled[@]}" -o "$out/$name.morphed.$kind"
        done
        check "$sinew" bake "$out/$name.morphed.glb" --method lbs --clip 0 "${frames[@]}" -o "$out/$name.morphed.json" --one-cache --quiet
        check "$usd_python" "$here/usd_positions.py" "$out/$name.morphed.json" 30 2 "$out/$name.morphed".usd[ac]
        check "$usd_python" "$here/usd_rewritten.py" "$out/$name.morphed.usda" "$out/$name.morphed.pixar.usdc" "$out/$name.morphed.pixar.usdz"
        for kind in usdc pixar.usdc; do
            check "$sinew" bake "$out/$name.morphed.$kind" --method lbs --clip 0 "${frames[@]}" -o "$out/$name.again.json" --quiet
            check "$usd_python" "$here/usd_rewritten.py" "$out/$name.morphed.json" "$out/$name.again.json"
        done
    fi
    if [ $has_blender = yes ]; then
        log="$out/$name.blender.log"
        blender --background --factory-startup --python-exit-code 3 --python "$here/blender_positions.py" -- \
            "$out/$name.glb" "$out/$name.json" 30 2 "$out/$name.rig.glb" "$out/$name.json" 30 2 >"$log" 2>&1 || failed=1
        grep -a ": Blender \|Error" "$log"
    fi
    exit $failed
)

# As many characters at a time as there are cores; what each printed is shown at its end.
for index in "${!characters[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
        wait -n
    done
    {
        readers "${characters[$index]}" >"$out/$index.log" 2>&1 || touch "$out/$index.failed"
        cat "$out/$index.log"
    } &
done
wait
[ -z "$(compgen -G "$out/*.failed")" ] || failed=1
[ $failed = 0 ] && echo "all readers agree"
exit $failed
