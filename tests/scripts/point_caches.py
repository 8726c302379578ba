"""Reads point caches with NumPy alone and compares them with the positions that Sinew baked as .json.

Usage: point_caches.py POSITIONS.json FPS FIRST_FRAME FILE.pc2 FILE.mdd; exits with 1 and says what differs.
Numbers must be the same: all three are written from the same f32, the JSON with enough digits to give it back.
"""

import json
import sys

import numpy as np


def read_pc2(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:12] == b"POINTCACHE2\0", "the signature"
    version, points = np.frombuffer(data, "<i4", 2, 12)
    start, rate = np.frombuffer(data, "<f4", 2, 20)
    frames = int(np.frombuffer(data, "<i4", 1, 28)[0])
    assert version == 1, "the version"
    return start + rate * np.arange(frames), np.frombuffer(data, "<f4", offset=32).reshape(frames, points, 3)


def read_mdd(path):
    with open(path, "rb") as file:
        data = file.read()
    frames, points = np.frombuffer(data, ">i4", 2)
    times = np.frombuffer(data, ">f4", frames, 8)
    return times, np.frombuffer(data, ">f4", offset=8 + 4 * int(frames)).reshape(frames, points, 3)


def main():
    positions, fps, first, pc2, mdd = sys.argv[1:]
    with open(positions, encoding="utf-8") as file:
        expected = np.array(json.load(file)["frames"], dtype=np.float32)
    numbers = int(first) + np.arange(len(expected))
    good = True
    for path, (times, actual), wanted in [(pc2, read_pc2(pc2), numbers), (mdd, read_mdd(mdd), numbers / float(fps))]:
        same = actual.shape == expected.shape and np.array_equal(actual.astype(np.float32), expected)
        timed = times.shape == wanted.shape and np.allclose(times, wanted, rtol=1e-6)
        print(f"{path}: {actual.shape[0]} frames, {actual.shape[1]} points{'' if same and timed else ' WRONG'}")
        good = good and same and timed
    sys.exit(0 if good else 1)


main()
