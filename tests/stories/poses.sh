#!/bin/sh
# An artist reaches a squat, a hug and a walk cycle on the built-in human; each says how many clicks, drags and keys it took.
#   tests/stories/poses.sh [SINEW] [FOLDER]
set -eu
HAND_SIZE=1440x900
. "$(dirname "$0")/hand.sh"
begin poses "$@"
project=$OUT/home/walk.sinew

launch builtin:mannequin
wait_until_still
# The card with the first steps.
click 557p 691p
see opened

# The squat: both toes pinned in the front view, where they hide the ankles, and the hips pulled down and back from the side.
command four sides
wait_until_still
CLICKS=0 DRAGS=0 KEYS=0
move 441p 808p
press p
move 485p 808p
press p
drag 872p 645p 840p 735p
wait_until_still
counted squat
see squat

leave

# The hug: one hand before the chest from above and from the side, its elbow out, then the same on the other side, and one hand lower.
launch builtin:mannequin
wait_until_still
command four sides
wait_until_still
see standing
CLICKS=0 DRAGS=0 KEYS=0
drag 742p 239p 900p 306p
drag 932p 613p 962p 556p
move 459p 557p
press p
press Escape
drag 451p 583p 405p 560p
menu 431p 548p
click 500p 108p
menu 431p 548p
click 508p 346p
press Escape
drag 468p 557p 463p 584p
press Escape
wait_until_still
counted hug
see hug

leave

# A walk: a clip with two strides that mirror each other, and a raised foot between them; the second half is pasted mirrored.
launch builtin:mannequin
wait_until_still
press KP_3
wait_until_still
see side
CLICKS=0 DRAGS=0 KEYS=0
command new clip
move 684p 700p
press p
move 684p 688p
press p
drag 712p 414p 712p 426p
press Escape
drag 684p 700p 594p 700p
press Escape
drag 684p 688p 770p 688p
press Escape
press k
see stride
click 882p 855p
press ctrl+m k
click 1223p 855p
press ctrl+m k
see second-stride
# A quarter of the way the hind foot passes.
click 711p 855p
wait_until_still
see passing
drag 684p 687p 706p 648p
press Escape
press k ctrl+c
see passed
click 1052p 855p
press ctrl+shift+v k
wait_until_still
see passed-mirrored
counted walk
press space
see walking
press space
# Between the keys, too.
for at in 625 795 967 1138; do
    click "${at}p" 855p
    wait_until_still
    see "walk-$at"
done

answer "$project"
press ctrl+s
has_file "the project" "$project"
"$SINEW" render "$project" --clip Clip --method pd --frames 0-60 --size 320x480 --view side -o "$OUT/walk.webp" 2>"$OUT/home/render.log" ||
    fail "the clip can't be drawn: $(tail -n 1 "$OUT/home/render.log")"
leave
