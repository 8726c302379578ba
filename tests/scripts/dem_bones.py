"""Dem Bones (PyPI py-dem-bones) beside `sinew distill`: the same simulated frames, as many bones in all, as many influences.

    python3 -m pip install py-dem-bones numpy
    python3 dem_bones.py SINEW FILE... [--clip NAME]... [--method pd] [--bones 24] [--influences 4] [--fps 30] [--iterations 30]

SINEW is the program; FILE... a character as the program takes it. Bakes the clips (all without --clip), distills a rig from them, and gives
Dem Bones the joints and helpers of that rig together as its number of bones. Prints the distances to the baked frames, root mean square
and largest, in millimetres, and the seconds of each, simulation included in both. Dem Bones moves all of its bones freely and keeps no
skeleton; vertices that lie at one place in all frames are one vertex to it. The last line repeats the numbers as JSON.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def run(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(str(word) for word in words)}")
    return done.stdout


def baked(options, folder):
    """Rest positions, frames, triangles of the skin, and metres per unit."""
    clips = options.clip or [clip["name"] for clip in json.loads(run(options.sinew, "info", *options.files, "--json"))["clips"]]
    frames = []
    for number, clip in enumerate(clips):
        path = folder / f"{number}.npz"
        run(options.sinew, "bake", *options.files, "--method", options.method, "--clip", clip, "--fps", options.fps, "-q", "-o", path)
        with np.load(path) as arrays:
            frames.append(arrays["positions"].astype(np.float64))
            rest, faces, weights = arrays["rest"].astype(np.float64), arrays["faces"], arrays["weights"]
            metres = float(arrays["metres_per_unit"])
    skin = weights.sum(axis=1) > 0
    place = np.cumsum(skin) - 1
    faces = place[faces[skin[faces].all(axis=1)]]
    return clips, rest[skin], np.concatenate(frames)[:, skin], faces, metres


def welded(rest, frames, faces):
    """One vertex for those that are at one place in all frames; and which one each vertex is."""
    keys = np.concatenate([rest[None], frames]).transpose(1, 0, 2).reshape(len(rest), -1)
    _, first, one = np.unique(np.round(keys, 9), axis=0, return_index=True, return_inverse=True)
    one = one.reshape(-1)
    faces = one[faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return rest[first], frames[:, first], faces[whole], one


def dem_bones(rest, frames, faces, bones, options):
    """Number of bones that it made, and the positions in all frames."""
    from py_dem_bones import solve_skinning

    found = solve_skinning(
        rest, frames, bones, faces=faces.tolist(), max_influences=options.influences, iterations=options.iterations
    )
    flat = np.concatenate([rest, np.ones((len(rest), 1))], axis=1)
    moved = np.empty_like(frames)
    for frame, transforms in enumerate(found.transforms):
        moved[frame] = sum(w[:, None] * (flat @ m[:3].T) for w, m in zip(found.weights, transforms))
    assert (found.weights > 0).sum(axis=0).max() <= options.influences
    return found.weights.shape[0], moved


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sinew")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--clip", action="append", default=[])
    parser.add_argument("--method", default="pd")
    for name, default in [("bones", 24), ("influences", 4), ("fps", 30), ("iterations", 30)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        begin = time.monotonic()
        clips, rest, frames, faces, metres = baked(options, folder)
        baking = time.monotonic() - begin
        begin = time.monotonic()
        words = [word for clip in clips for word in ("--clip", clip)]
        report = json.loads(
            run(
                options.sinew, "distill", *options.files, "--method", options.method, *words, "--held-back", "none", "--clips-only",
                "--bones", options.bones, "--influences", options.influences, "--fps", options.fps, "-q", "--json", "-o", folder / "rig.glb",
            )
        )  # fmt: skip
        distilling = time.monotonic() - begin
    if (report["vertices"], sum(clip["frames"] for clip in report["fitted"])) != (len(rest), len(frames)):
        sys.exit(f"other vertices or frames: {report['vertices']} vertices distilled, {len(rest)} baked in {len(frames)} frames")
    total = sum(clip["frames"] for clip in report["fitted"])
    rows = []
    for name, key in [("sinew distill, keys", "keyed"), ("sinew distill, driven by the pose", "driven"), ("joints alone", "before")]:
        squares = sum(clip[key]["rms"] ** 2 * clip["frames"] for clip in report["fitted"])
        largest = max(clip[key]["max"] for clip in report["fitted"])
        bones = report["joints"] + (report["helpers"] if key != "before" else 0)
        rows.append([name, bones, (squares / total) ** 0.5, largest, distilling if key == "keyed" else None])
    begin = time.monotonic()
    small, moving, triangles, one = welded(rest, frames, faces)
    made, moved = dem_bones(small, moving, triangles, report["joints"] + report["helpers"], options)
    off = np.linalg.norm(moved[:, one] - frames, axis=2) * metres * 1e3
    rows.append(["Dem Bones", made, float(np.sqrt((off**2).mean())), float(off.max()), baking + time.monotonic() - begin])
    print(f"{len(rest)} vertices, {total} frames of {', '.join(clips)}; at most {options.influences} bones a vertex")
    for name, bones, rms, largest, seconds in rows:
        shown = "" if seconds is None else f"{seconds:8.1f} s"
        print(f"{name:34} {bones:4} bones  rms {rms:7.2f} mm  largest {largest:7.1f} mm {shown}")
    print(json.dumps([dict(zip(["name", "bones", "rms_mm", "max_mm", "seconds"], row)) for row in rows]))


if __name__ == "__main__":
    main()
