# A hand for the window, to be sourced by a story:
#
#   . "$(dirname "$0")/hand.sh"
#   begin NAME [SINEW] [FOLDER]     a display, a window manager, folders of its own, and the place where pictures go
#   launch FILE...                  starts the window and waits until it is there
#   see STEP                        keeps a picture; fails if the window died or looks as before
#   move X Y; click X Y; menu X Y; drag X Y X Y; press KEY...; say TEXT; command WORDS
#   wait_until_still                until nothing moves any more
#   answer PATH                     what the system's file dialog will say when it is asked next
#   counted WHAT                    says how many clicks, drags and keys it took since the last time
#   leave                           closes the window without saving; fails unless it ends well
#
# Places are parts of the window in per mille (500 500 is its middle), or points from an edge: 12p from the left or the top,
# -12p from the right or the bottom, ~12p from the middle. Needs xvfb, openbox, xdotool, imagemagick and a (software) Vulkan driver. HAND_DISPLAY names
# the display to make, as in :25; HAND_SIZE the size of the window, as in 1280x800.

# A window drawn by a processor alone takes a few pictures a second: how long a step may take to be seen, in seconds.
PAUSE=${HAND_PAUSE:-1}
# The least number of pixels that another picture has.
LEAST=150

fail() {
    echo "FAILED: $STORY: $*" >&2
    exit 1
}

begin() {
    STORY=$1
    SINEW=$(realpath "${2:-target/release/sinew}")
    OUT=${3:-target/stories/$STORY}
    rm -rf "$OUT/home"
    mkdir -p "$OUT/home/runtime" "$OUT/home/bin"
    OUT=$(realpath "$OUT")
    rm -f "$OUT"/*.png
    chmod 700 "$OUT/home/runtime"
    export XDG_CONFIG_HOME="$OUT/home/config" XDG_DATA_HOME="$OUT/home/data" XDG_CACHE_HOME="$OUT/home/cache"
    export HOME="$OUT/home" XDG_STATE_HOME="$OUT/home/state" XDG_RUNTIME_DIR="$OUT/home/runtime"
    # Without a desktop portal a file dialog is asked of zenity: here of one that says what the story wants.
    printf '#!/bin/sh\ncat "%s"\nrm "%s"\n' "$OUT/home/answer" "$OUT/home/answer" >"$OUT/home/bin/zenity"
    chmod +x "$OUT/home/bin/zenity"
    export PATH="$OUT/home/bin:$PATH" DBUS_SESSION_BUS_ADDRESS="unix:path=$OUT/home/runtime/no-bus"
    unset WAYLAND_DISPLAY
    DISPLAY=${HAND_DISPLAY:-:$((90 + $$ % 100))}
    export DISPLAY
    PID='' XVFB='' OPENBOX=''
    trap 'end' EXIT
    trap 'exit 1' INT TERM
    CLICKS=0 DRAGS=0 KEYS=0
    Xvfb "$DISPLAY" -screen 0 1600x1000x24 >/dev/null 2>&1 &
    XVFB=$!
    wait_for "no display $DISPLAY" 50 xdotool getdisplaygeometry
    openbox >/dev/null 2>&1 &
    OPENBOX=$!
    STEP=0
}

end() {
    for process in $PID $OPENBOX $XVFB; do
        kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true
    done
}

# wait_for WHAT TENTHS COMMAND...: until the command succeeds.
wait_for() {
    what=$1
    tenths=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        tenths=$((tenths - 1))
        [ "$tenths" -gt 0 ] || fail "$what"
        sleep 0.1
    done
}

find_window() {
    WINDOW=$(xdotool search --onlyvisible --name Sinew | head -n 1)
    [ -n "$WINDOW" ]
}

launch() {
    "$SINEW" "$@" >"$OUT/sinew.log" 2>&1 &
    PID=$!
    wait_for "no window appeared" 600 find_window
    [ -z "${HAND_SIZE:-}" ] || xdotool windowsize --sync "$WINDOW" "${HAND_SIZE%x*}" "${HAND_SIZE#*x}"
    xdotool windowmove "$WINDOW" 0 0
    wait_for "the window takes no keys" 100 xdotool windowfocus "$WINDOW"
    sleep 2
    measure
}

measure() {
    eval "$(xdotool getwindowgeometry --shell "$WINDOW" | grep -E '^(WIDTH|HEIGHT)=')"
}

# place EXTENT WHERE: in points of the window.
place() {
    where=${2%p}
    case $2 in
    "~"*) echo $(($1 / 2 + ${where#\~})) ;;
    -*p) echo $(($1 + where)) ;;
    *p) echo "$where" ;;
    *) echo $(($1 * where / 1000)) ;;
    esac
}

move() {
    at_x=$(place "$WIDTH" "$1") at_y=$(place "$HEIGHT" "$2")
    xdotool mousemove --window "$WINDOW" "$at_x" "$at_y"
    sleep 0.3
}

click() {
    move "$1" "$2"
    CLICKS=$((CLICKS + 1))
    xdotool click 1
    sleep "$PAUSE"
}

menu() {
    move "$1" "$2"
    CLICKS=$((CLICKS + 1))
    xdotool click 3
    sleep "$PAUSE"
}

drag() {
    move "$3" "$4"
    to_x=$at_x to_y=$at_y
    move "$1" "$2"
    from_x=$at_x from_y=$at_y
    DRAGS=$((DRAGS + 1))
    xdotool mousedown 1
    sleep 0.2
    for part in 1 2 3 4 5 6 7 8; do
        xdotool mousemove --window "$WINDOW" $((from_x + (to_x - from_x) * part / 8)) $((from_y + (to_y - from_y) * part / 8))
        sleep 0.1
    done
    sleep 0.3
    xdotool mouseup 1
    sleep "$PAUSE"
}

press() {
    for key; do
        KEYS=$((KEYS + 1))
        xdotool key --clearmodifiers "$key"
        sleep "$PAUSE"
    done
}

say() {
    KEYS=$((KEYS + ${#1}))
    xdotool type --delay 60 "$1"
    sleep "$PAUSE"
}

# Asks the palette, as one does who doesn't know where things are.
command() {
    press ctrl+k
    say "$*"
    press Return
}

counted() {
    echo "$1: $CLICKS clicks, $DRAGS drags, $KEYS keys"
    CLICKS=0 DRAGS=0 KEYS=0
}

answer() {
    printf '%s\n' "$1" >"$OUT/home/answer"
}

# has_file WHAT PATH: once it is there and not empty.
has_file() {
    wait_for "$1 was not written: $2" 100 test -s "$2"
    echo "written: $2"
}

# snap PATH: without the numbers at the right of the status line, which count milliseconds: they always differ.
snap() {
    import -window "$WINDOW" "$picture"
    convert "$picture" -fill black -draw "rectangle $((WIDTH - 440)),$((HEIGHT - 33)) $WIDTH,$HEIGHT" "$1"
}

# Waits until two pictures, more than a second apart, are alike; after a while goes on all the same.
wait_until_still() {
    picture=$OUT/home/still.png
    sleep 1
    snap "$OUT/home/still.ppm"
    for _ in 1 2 3 4 5 6 7 8; do
        sleep 1.5
        snap "$OUT/home/later.ppm"
        cmp -s "$OUT/home/still.ppm" "$OUT/home/later.ppm" && return
        mv "$OUT/home/later.ppm" "$OUT/home/still.ppm"
    done
}

is_new() {
    [ -f "$OUT/home/before.ppm" ] || return 0
    # A window of another size has no number here, and is another picture.
    pixels=$(compare -metric AE -fuzz 4% "$OUT/home/before.ppm" "$OUT/home/now.ppm" null: 2>&1) || true
    echo "$pixels" | awk -v least=$LEAST '{ exit $1 ~ /^[0-9]/ && $1 + 0 < least }'
}

see() {
    STEP=$((STEP + 1))
    picture=$OUT/$(printf %02d "$STEP")-$1.png
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        kill -0 "$PID" 2>/dev/null || fail "the window died before: $1 ($(tail -n 1 "$OUT/sinew.log"))"
        snap "$OUT/home/now.ppm"
        if is_new; then
            mv "$OUT/home/now.ppm" "$OUT/home/before.ppm"
            echo "seen: $1"
            return
        fi
        sleep 1
    done
    fail "nothing changed: $1"
}

has_closed() {
    ! kill -0 "$PID" 2>/dev/null
}

# Ends the window as a user does who keeps nothing: Ctrl+Q, and "Don't save" if that is asked.
leave() {
    press ctrl+q
    sleep 1
    has_closed || click '~20p' '~33p'
    wait_for "the window did not close" 100 has_closed
    wait "$PID" || fail "sinew ended with an error: $(tail -n 1 "$OUT/sinew.log")"
    PID=''
    echo "closed"
}
