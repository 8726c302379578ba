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
sleep 2
see single
# The first of the methods to compare with is the third row below the button: "With nothing", then the others.
click 440p 50p
see compare-menu
click 440p 106p
sleep 2
see wipe
drag 471 500 560 500
see wipe-moved
