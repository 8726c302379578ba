"""Counts intersecting triangles of small meshes with integer coordinates, written from the definition with numpy and nothing of Sinew.

    python3 intersections.py MESHES.json

MESHES.json: [{"positions": [[x, y, z], ...], "triangles": [[a, b, c], ...]}, ...], all integers.
Prints [[[i, j], ...], ...]: for each mesh the pairs of triangles whose interiors have a common point and that are not coplanar.

Each triangle is clipped against the plane of the other: the chord that is left has rational ends, which are compared exactly as
parameters along the line of the two planes.
"""
import json
import sys
from fractions import Fraction

import numpy as np


def chord(triangle, normal, offset, direction):
    """The open interval along `direction` where a triangle meets a plane that separates its corners; None if it does not."""
    heights = [int(normal @ corner) - offset for corner in triangle]
    if min(heights) >= 0 or max(heights) <= 0:
        return None
    at = []
    for k in range(3):
        p, q, hp, hq = triangle[k], triangle[(k + 1) % 3], heights[k], heights[(k + 1) % 3]
        if hp == 0:
            at.append(Fraction(int(direction @ p)))
        if hp * hq < 0:
            part = Fraction(hp, hp - hq)
            at.append(int(direction @ p) * (1 - part) + int(direction @ q) * part)
    return min(at), max(at)


def intersect(s, t):
    m, n = np.cross(s[1] - s[0], s[2] - s[0]), np.cross(t[1] - t[0], t[2] - t[0])
    direction = np.cross(m, n)
    if not direction.any():
        return False
    first, second = chord(s, n, int(n @ t[0]), direction), chord(t, m, int(m @ s[0]), direction)
    return first is not None and second is not None and max(first[0], second[0]) < min(first[1], second[1])


def pairs(mesh):
    corners = np.array(mesh["positions"], dtype=np.int64)[np.array(mesh["triangles"])]
    count = len(corners)
    return [[i, j] for i in range(count) for j in range(i + 1, count) if intersect(corners[i], corners[j])]


json.dump([pairs(mesh) for mesh in json.load(open(sys.argv[1]))], sys.stdout)
