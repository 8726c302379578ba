#!/bin/sh
# A researcher compares methods on a walking man, measures how far they are from one another, and takes a picture home.
#   tests/stories/researcher.sh [SINEW] [FOLDER]
# The man is CesiumMan.glb of SINEW_TEST_DATA; without that folder he is the built-in mannequin.
set -eu
. "$(dirname "$0")/hand.sh"
begin researcher "$@"

man=$(find "${SINEW_TEST_DATA:-/nowhere}" -path '*A_rigged*' -name CesiumMan.glb 2>/dev/null | head -n 1)
[ -n "$man" ] || echo "SKIPPED: CesiumMan.glb is not in SINEW_TEST_DATA; the mannequin walks in his place"
launch "${man:-builtin:mannequin}"
wait_until_still
see opened

command three methods
wait_until_still
see three-methods
press 1 space
sleep 2
see playing
press space
sleep 2
see paused

command single view
command projective dynamics
wait_until_still
see single
# The menu lists "With nothing" and the other methods, the simplest first.
click 440p 50p
see compare-menu
click 440p 106p
wait_until_still
see wipe
# The line is in the middle of the view, between the panels: 250 points on the left, 332 on the right.
line=$(((250 + WIDTH - 332) / 2))
drag ${line}p 400p $((line - 110))p 400p
see wipe-moved
click 616p 50p
wait_until_still
see distance-map
click 552p 50p
wait_until_still
see flicker
move 300p 600p
xdotool keydown v
see flickered
xdotool keyup v
see flickered-back

press ctrl+e
see export
click '~172p' '~100p'
has_file "the picture" "$OUT/home/$(basename "${man:-mannequin}" .glb).png"
see exported
press Escape
leave
