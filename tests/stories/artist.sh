#!/bin/sh
# An artist gives bones to a bare mesh, poses it, keeps the work, and leaves.
#   tests/stories/artist.sh [SINEW] [FOLDER]
# The mesh is given on the command line, as files can't be dropped without a file manager; the window takes both the same way.
set -eu
. "$(dirname "$0")/hand.sh"
begin artist "$@"

mesh=$OUT/home/figure.obj
project=$OUT/home/figure.sinew
"$SINEW" bake builtin:mannequin --method lbs --settle -o "$mesh" >/dev/null 2>&1

# A mesh without joints opens in edit mode.
launch "$mesh"
wait_until_still
see opened

# Two joints in the middle of the trunk, the second hanging on the first.
click 457 335
see joint
click 457 240
see chain
press ctrl+z
see joint-undone

# A whole skeleton at once.
command template human
see template
press Return
wait_until_still
see fitted

press ctrl+shift+e
see posing
drag 613 450 680 300
see hand-dragged

command four sides
wait_until_still
see split

answer "$project"
press ctrl+s
has_file "the project" "$project"
"$SINEW" info "$project" --json >"$OUT/home/info.json" || fail "the project can't be read"
grep -q '"hand.L"' "$OUT/home/info.json" || fail "the project has lost its joints"
see saved

press ctrl+z
wait_until_still
see pose-undone
press ctrl+shift+z
wait_until_still
see pose-redone
kept=$(cksum <"$project")
command reset pose
wait_until_still
see rest
press ctrl+s
sleep 2
[ "$kept" != "$(cksum <"$project")" ] || fail "Ctrl+S without a dialog has not written the project"

# What is not saved is asked for.
press ctrl+z
wait_until_still
press ctrl+q
see asked
press Escape
see asked-no-more
leave
