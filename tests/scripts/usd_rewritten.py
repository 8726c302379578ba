"""Writes a USD file again with Pixar's library, or compares what Sinew bakes of two files.

Usage: usd_rewritten.py IN.usda OUT.usdc OUT.usdz, or usd_rewritten.py A.json B.json; exits with 1 if positions differ by more than 5e-4 of
the size: UsdSkel keeps animated scales in half precision.
"""

import json
import sys

import numpy as np


def main():
    first, *others = sys.argv[1:]
    if first.endswith(".json"):
        frames = [np.array(json.load(open(path, encoding="utf-8"))["frames"]) for path in [first, *others]]
        size = np.linalg.norm(np.ptp(frames[0][0], axis=0))
        off = np.abs(frames[0] - frames[1]).max() / size if frames[0].shape == frames[1].shape else np.inf
        verdict = "agrees" if off < 5e-4 else "DIFFERS"
        print(f"{others[0]}: written by Pixar's library and read again: off by {off:.2e} of the size: {verdict}")
        sys.exit(0 if off < 5e-4 else 1)
    from pxr import Sdf, Usd, UsdUtils

    binary, package = others
    Usd.Stage.Open(first).Export(binary)
    assert UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(binary), package)


if __name__ == "__main__":
    main()
