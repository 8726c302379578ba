"""Bounded biharmonic weights judged by libigl.

    python3 parity_bounded.py FOLDER WEIGHTS.json [ITERATIONS]

FOLDER has hand.mesh and hand.tgf of libigl's tutorial. WEIGHTS.json (tests/skinning/bounded_hand.rs writes it; SINEW_KEEP_PARITY=1 keeps
it in the folder of temporary files) is a list with a list of 20 weights for every vertex.

Energy and handles are computed with libigl's matrices. With ITERATIONS (100 took 98 s on two cores) libigl solves the problem itself, too.
Exit code 1 if handles differ, weights are negative, rows do not sum to 1, or the energy is not that of the optimum.
"""
import json
import sys
import time

import igl
import numpy as np

# Energies: libigl's optimum (0 <= w <= 1, no sum), and that with rows that sum to 1 as a multiple of it.
OPTIMUM, SIMPLEX, TOLERANCE = 26483.046, 1.0035, 5e-4


def read(folder):
    vertices, tetrahedra = [], []
    words = open(f"{folder}/hand.mesh").read().split()
    at = words.index("Vertices")
    count = int(words[at + 1])
    vertices = np.array(words[at + 2:at + 2 + 4 * count], float).reshape(-1, 4)[:, :3]
    at = words.index("Tetrahedra")
    count = int(words[at + 1])
    tetrahedra = np.array(words[at + 2:at + 2 + 5 * count], int).reshape(-1, 5)[:, :4] - 1
    points, _, bones = open(f"{folder}/hand.tgf").read().partition("#")
    joints = np.array([line.split()[1:4] for line in points.splitlines() if line.strip()], float)
    lines = bones.partition("#")[0].splitlines()
    edges = np.array([line.split()[:2] for line in lines if line.strip()], int) - 1
    return vertices, tetrahedra, joints, edges


def main():
    vertices, tetrahedra, joints, edges = read(sys.argv[1])
    weights = np.array(json.load(open(sys.argv[2])))
    laplacian = igl.cotmatrix(vertices, tetrahedra)
    mass = igl.massmatrix(vertices, tetrahedra, igl.MASSMATRIX_TYPE_BARYCENTRIC)

    def energy(w):
        flow = laplacian @ w
        return float(np.sum(flow * flow / mass.diagonal()[:, None]))

    handles, values = igl.boundary_conditions(vertices, tetrahedra, joints, BE=edges)
    handle_error = np.abs(weights[handles] - values).max()
    sums = np.abs(weights.sum(axis=1) - 1).max()
    ratio = energy(weights) / OPTIMUM
    print(f"{len(handles)} handles off by {handle_error:.1e}; least weight {weights.min():.1e}; sums off by {sums:.1e}; "
          f"energy {energy(weights):.4f}, {ratio:.5f} of libigl's optimum")
    if len(sys.argv) > 3:
        start = time.time()
        w = igl.bbw(vertices, tetrahedra, handles, values, max_iter=int(sys.argv[3]))
        w, before = w / w.sum(axis=1, keepdims=True), w
        print(f"libigl: {time.time() - start:.1f} s, energy {energy(before):.4f}, after division by the sums {energy(w):.4f}, "
              f"range {before.min():.4f} to {before.max():.4f}, farthest from ours {np.abs(w - weights).max():.3f}")
    ok = handle_error < 1e-12 and weights.min() >= 0 and sums < 1e-9 and abs(ratio - SIMPLEX) < TOLERANCE
    sys.exit(0 if ok else 1)


main()
