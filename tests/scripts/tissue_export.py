"""Reads exported tissue with meshio, an independent reader, and compares it with the report of `sinew tissue --json`.

Usage: tissue_export.py REPORT.json FILE.msh FILE.vtu SKIN_TRIANGLES; exits with 1 and says what differs.
"""

import json
import sys

import meshio
import numpy as np

# Sums of f64 written in decimals that give them back; the report is a sum in another order.
TOLERANCE = 1e-6


def tet_volumes(points, tets):
    """Signed volumes: positive where the fourth corner lies on the side that the first three turn counter-clockwise to."""
    a, b, c, d = (points[tets[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0


def cells(mesh, kind):
    blocks = [block.data for block in mesh.cells if block.type == kind]
    return np.concatenate(blocks) if blocks else np.zeros((0, 3), dtype=int)


def check(path, report, triangles, wrong):
    def expect(what, actual, expected):
        if actual != expected:
            wrong.append(f"{path}: {what}: {actual}, the report says {expected}")

    mesh = meshio.read(path)
    quality = report["quality"]
    tets = cells(mesh, "tetra")
    expect("points", len(mesh.points), report["vertices"])
    expect("tets", len(tets), quality["tets"])
    expect("triangles", len(cells(mesh, "triangle")), 2 * triangles if path.endswith(".msh") else 0)
    if not np.isfinite(mesh.points).all():
        wrong.append(f"{path}: points that are not finite")
    volumes = tet_volumes(mesh.points, tets)
    expect("inverted tets", int((volumes < 0.0).sum()), quality["inverted"])
    error = abs(np.abs(volumes).sum() - quality["volume"]) / quality["volume"]
    if not error < TOLERANCE:
        wrong.append(f"{path}: volume {np.abs(volumes).sum()}, the report says {quality['volume']}")
    if path.endswith(".vtu"):
        own = np.asarray(mesh.cell_data["volume"][0])
        worst = np.abs(np.abs(own) - np.abs(volumes)).max() / np.abs(volumes).max()
        if not worst < TOLERANCE:
            wrong.append(f"{path}: the volumes written are off by {worst} of the largest")
    print(f"{path}: {len(mesh.points)} points, {len(tets)} tets, volume off by {error:.1e}")


def main():
    report_path, msh, vtu, triangles = sys.argv[1:]
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)
    wrong = []
    for path in (msh, vtu):
        check(path, report, int(triangles), wrong)
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
