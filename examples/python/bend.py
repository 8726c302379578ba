"""Bends an elbow by several methods, and says how much volume each keeps.

Usage: python3 bend.py [CHARACTER [JOINT]]; needs the wheel of this folder: pip install ./examples/python
"""

import sys

import numpy as np
import sinew

character = sinew.open(sys.argv[1] if len(sys.argv) > 1 else "builtin:arm")
joint = sys.argv[2] if len(sys.argv) > 2 else character.joints[1]
pose = character.pose(rotate={joint: (0, 0, 90)})
for method in ["lbs", "dqs", "pd"]:
    positions = character.skin(method, pose)
    moved = np.linalg.norm(positions - character.rest, axis=1).max()
    volume = character.metrics(positions, pose)["volume_change"]
    print(f"{method}: volume {100 * volume:+.1f} %, moved by up to {moved:.2f}")
