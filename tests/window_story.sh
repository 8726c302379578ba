#!/bin/sh
# Drives the real window under Xvfb as a hand would, and keeps what it saw.
#   tests/window_story.sh [SINEW] [FOLDER]
# Needs xvfb, openbox, xdotool, imagemagick and a (software) Vulkan driver. Ends with 0 if the window lived through it all, closed
# when asked to, and every picture differs from the one before.
set -eu
SINEW=${1:-target/release/sinew}
OUT=${2:-target/window_story}
mkdir -p "$OUT"
DISPLAY=:$((90 + $$ % 100)); export DISPLAY
Xvfb "$DISPLAY" -screen 0 1600x1000x24 >/dev/null 2>&1 & XVFB=$!
trap 'kill $XVFB 2>/dev/null || true' EXIT
sleep 1
openbox >/dev/null 2>&1 &
"$SINEW" builtin:arm & PID=$!

WINDOW=
for _ in $(seq 100); do
    WINDOW=$(xdotool search --onlyvisible --name Sinew 2>/dev/null | head -n 1) || true
    [ -n "$WINDOW" ] && break
    sleep 0.1
done
[ -n "$WINDOW" ] || { echo "no window appeared"; exit 1; }
xdotool windowfocus "$WINDOW"

BEFORE=
see() {
    kill -0 $PID || { echo "the window died before: $1"; exit 1; }
    import -window root "$OUT/$1.png"
    NOW=$(convert "$OUT/$1.png" rgb:- | cksum)
    [ "$NOW" != "$BEFORE" ] || { echo "nothing changed: $1"; exit 1; }
    BEFORE=$NOW
    echo "seen: $1"
}
drag() { # from x y to x y
    xdotool mousemove "$1" "$2"; sleep 0.3; xdotool mousedown 1
    for step in 1 2 3 4 5 6; do
        xdotool mousemove $(($1 + ($3 - $1) * step / 6)) $(($2 + ($4 - $2) * step / 6)); sleep 0.1
    done
    xdotool mouseup 1; sleep 1
}

xdotool windowmove "$WINDOW" 0 0
sleep 4;                                  see opened
xdotool mousemove 588 400 click 1; sleep 1; see selected
drag 588 400 640 300;                     see pulled
xdotool key ctrl+z; sleep 1;              see undone
xdotool key ctrl+shift+z; sleep 1;        see redone
drag 150 800 300 780;                     see orbited
xdotool key Escape; xdotool key 1; xdotool key space; sleep 1.5; see playing
xdotool key space; xdotool key b; sleep 1; see bones
xdotool key F1; sleep 1;                  see help
xdotool key Escape
xdotool windowsize "$WINDOW" 700 450; sleep 1; see small
xdotool key ctrl+q
for _ in $(seq 50); do
    kill -0 $PID 2>/dev/null || { wait $PID; echo "closed"; exit 0; }
    sleep 0.1
done
echo "the window did not close"; kill $PID; exit 1
