"""Computes every number of a report of `sinew compare` again, from the definitions, with numpy and nothing of Sinew.

    python3 compare_metrics.py JOB.json

JOB.json: {"report": the report, as `compare --json` prints it,
           "rest": the rest pose as .obj, as `bake` writes it,
           "metres_per_unit": …,
           "rest_motion": the rest pose as .bvh,
           "cells": [{"method": …, "pose": …, "positions": … as `bake -o X.json` writes them, "motion": … as `bake -o X.bvh` writes it}, …]}

Fails if the report has a quantity that is neither computed here nor listed in NOT_COMPUTED.
"""
import json
import math
import sys
from fractions import Fraction

import numpy as np

# What no file shows: the inside of the simulation, and times.
NOT_COMPUTED = {"tissue_energy", "contact_depth_mm", "contact_vertices", "frame_ms"}
# Positions are f32: 6e-8 of the size each; sums over thousands of triangles and differences of large numbers lose a few digits.
TOLERANCE = {
    "volume_change": 2e-6, "stretch_p1": 1e-5, "stretch_p50": 1e-5, "stretch_p99": 1e-5, "stretch_max": 2e-5, "skin_energy": 2e-6,
    "roughness_deg": 2e-4, "new_creases": 0, "girth_change_min": 1e-4, "girth_change_max": 1e-4,
    "distance_rms_mm": 1e-3, "distance_p99_mm": 1e-3, "distance_max_mm": 1e-3, "intersecting_pairs": 0, "new_pairs": 0,
}


def read_obj(path):
    positions, triangles = [], []
    for line in open(path):
        words = line.split()
        if words[:1] == ["v"]:
            positions.append([float(c) for c in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(word.split("/")[0]) - 1 for word in words[1:]]
            triangles += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return np.array(positions), np.array(triangles)


def weld(positions, triangles):
    """The first vertex of each place, and the triangles between places without those that have no area or occur twice."""
    size = np.linalg.norm(np.ptp(positions, axis=0))
    rounded = np.round(positions / (size * 1e-6)).astype(np.int64)
    _, first, place = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    welded = place.ravel()[triangles]
    different = (welded[:, 0] != welded[:, 1]) & (welded[:, 1] != welded[:, 2]) & (welded[:, 2] != welded[:, 0])
    seen, kept = set(), []
    for triangle in welded[different].tolist():
        k = triangle.index(min(triangle))
        turned = tuple(triangle[k:] + triangle[:k])
        if turned not in seen:
            seen.add(turned)
            kept.append(triangle)
    return first, np.array(kept)


def volume(p, t):
    o = p.mean(axis=0)
    a, b, c = (p[t[:, k]] - o for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def edges_of(t):
    return np.unique(np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1), axis=0)


def dihedral_edges(t):
    """Edges that exactly two triangles run through, in opposite directions: [from, to, first triangle, second triangle]."""
    directed = {}
    for index, triangle in enumerate(t.tolist()):
        for k in range(3):
            directed.setdefault((triangle[k], triangle[(k + 1) % 3]), []).append(index)
    found = []
    for (a, b), own in directed.items():
        other = directed.get((b, a), [])
        if a < b and len(own) == 1 and len(other) == 1:
            found.append([a, b, own[0], other[0]])
    return np.array(found)


def dihedrals(p, t, edges):
    n = np.cross(p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]])
    along = p[edges[:, 1]] - p[edges[:, 0]]
    lengths = [np.linalg.norm(v, axis=1) for v in (n[edges[:, 2]], n[edges[:, 3]], along)]
    defined = np.min(lengths, axis=0) > 0
    first, second, along = (v / np.maximum(length, 1e-300)[:, None] for v, length in zip((n[edges[:, 2]], n[edges[:, 3]], along), lengths))
    angle = np.arctan2(np.einsum("ij,ij->i", np.cross(first, second), along), np.einsum("ij,ij->i", first, second))
    return np.degrees(angle), defined


def skin_energy(rest, posed, t):
    """Mean over the area of |F - R|^2 = (s1 - 1)^2 + (s2 - 1)^2 with the singular values of F."""
    u, v = rest[t[:, 1]] - rest[t[:, 0]], rest[t[:, 2]] - rest[t[:, 0]]
    doubled = np.linalg.norm(np.cross(u, v), axis=1)
    size = np.linalg.norm(np.ptp(rest, axis=0))
    kept = doubled > 1e-12 * size * size
    u, v, doubled, t = u[kept], v[kept], doubled[kept], t[kept]
    length = np.linalg.norm(u, axis=1)
    plane = np.zeros((len(t), 2, 2))
    plane[:, 0, 0], plane[:, 0, 1], plane[:, 1, 1] = length, np.einsum("ij,ij->i", u, v) / length, doubled / length
    now = np.stack([posed[t[:, 1]] - posed[t[:, 0]], posed[t[:, 2]] - posed[t[:, 0]]], axis=2)
    singular = np.linalg.svd(now @ np.linalg.inv(plane), compute_uv=False)
    return float((((singular - 1) ** 2).sum(axis=1) * doubled).sum() / doubled.sum())


def candidates(p, t):
    """Pairs of triangles whose boxes overlap and that share no edge."""
    low, high = p[t].min(axis=1), p[t].max(axis=1)
    cell = 2 * np.median((high - low).max(axis=1)) + 1e-30
    cells = {}
    for index, (a, b) in enumerate(zip(np.floor(low / cell).astype(int).tolist(), np.floor(high / cell).astype(int).tolist())):
        for x in range(a[0], b[0] + 1):
            for y in range(a[1], b[1] + 1):
                for z in range(a[2], b[2] + 1):
                    cells.setdefault((x, y, z), []).append(index)
    chunks = []
    for members in cells.values():
        members = np.array(members)
        i, j = np.triu_indices(len(members), 1)
        chunks.append(np.stack([members[i], members[j]], axis=1))
    pairs = np.unique(np.sort(np.concatenate(chunks), axis=1), axis=0)
    i, j = pairs.T
    overlap = ((low[i] <= high[j]) & (low[j] <= high[i])).all(axis=1)
    pairs = pairs[overlap]
    shared = (t[pairs[:, 0]][:, :, None] == t[pairs[:, 1]][:, None, :]).sum(axis=(1, 2))
    return pairs[shared < 2]


def exact(p):
    return [Fraction(float(c)) for c in p]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def chord(corners, heights, direction):
    """The interval along `direction` where a triangle meets a plane that separates its corners."""
    if min(heights) >= 0 or max(heights) <= 0:
        return None
    at = []
    for k in range(3):
        p, q, hp, hq = corners[k], corners[(k + 1) % 3], heights[k], heights[(k + 1) % 3]
        if hp == 0:
            at.append(dot(direction, p))
        if hp * hq < 0:
            part = hp / (hp - hq)
            at.append(dot(direction, p) * (1 - part) + dot(direction, q) * part)
    return min(at), max(at)


def intersect(s, t):
    """Whether the interiors of two triangles that are not coplanar have a common point; exact."""
    s, t = [exact(p) for p in s], [exact(p) for p in t]
    m, n = cross(minus(s[1], s[0]), minus(s[2], s[0])), cross(minus(t[1], t[0]), minus(t[2], t[0]))
    direction = cross(m, n)
    if not any(direction):
        return False
    first = chord(s, [dot(n, minus(p, t[0])) for p in s], direction)
    second = first and chord(t, [dot(m, minus(p, s[0])) for p in t], direction)
    return bool(second) and max(first[0], second[0]) < min(first[1], second[1])


def intersecting(p, t):
    pairs = candidates(p, t)
    if not len(pairs):
        return set()
    size = np.linalg.norm(np.ptp(p, axis=0))

    def separates(of, other):
        """Whether all corners of a triangle are clearly on one side of the other's plane; a common corner is on it."""
        a, b, c = (p[t[other][:, k]] for k in range(3))
        n = np.cross(b - a, c - a)
        n /= np.linalg.norm(n, axis=1, keepdims=True) + 1e-300
        heights = np.einsum("ijk,ik->ij", p[t[of]] - a[:, None], n)
        common = (t[of][:, :, None] == t[other][:, None, :]).any(axis=2)
        least = 1e-12 * size
        above, below = (heights > least) | common, (heights < -least) | common
        return above.all(axis=1) | below.all(axis=1)

    pairs = pairs[~separates(pairs[:, 0], pairs[:, 1])]
    pairs = pairs[~separates(pairs[:, 1], pairs[:, 0])]
    return {(i, j) for i, j in pairs.tolist() if intersect(p[t[i]], p[t[j]])}


def read_bvh(path):
    """Names, parents and world positions in the first frame of all joints, without the ends of leaves."""
    lines = [line.split() for line in open(path)]
    names, parents, offsets, channels, open_joints = [], [], [], [], []
    is_end = False
    at = 0
    while lines[at][:1] != ["MOTION"]:
        words = lines[at]
        if words[:1] in (["ROOT"], ["JOINT"]):
            parents.append(open_joints[-1] if open_joints else None)
            names.append(" ".join(words[1:]))
            open_joints.append(len(names) - 1)
            offsets.append(None)
            channels.append([])
        elif words[:1] == ["End"]:
            is_end = True
            open_joints.append(None)
        elif words[:1] == ["OFFSET"] and not is_end:
            offsets[open_joints[-1]] = np.array([float(c) for c in words[1:4]])
        elif words[:1] == ["CHANNELS"]:
            channels[open_joints[-1]] = words[2:]
        elif words[:1] == ["}"]:
            if open_joints.pop() is None:
                is_end = False
        at += 1
    values = iter(float(c) for c in lines[at + 3])
    world = []
    for joint in range(len(names)):
        turn, offset = np.eye(3), offsets[joint].copy()
        for channel in channels[joint]:
            value, axis = next(values), "XYZ".index(channel[0])
            if channel.endswith("position"):
                # A position replaces the offset.
                offset[axis] = value
            else:
                c, s = math.cos(math.radians(value)), math.sin(math.radians(value))
                i, j = (axis + 1) % 3, (axis + 2) % 3
                step = np.eye(3)
                step[i, i] = step[j, j] = c
                step[i, j], step[j, i] = -s, s
                turn = turn @ step
        parent = parents[joint]
        if parent is None:
            world.append((turn, offset))
        else:
            world.append((world[parent][0] @ turn, world[parent][1] + world[parent][0] @ offset))
    return names, parents, np.array([place for _, place in world])


def section(p, t, center, normal, of_limb):
    """Length of the shortest closed loop of the section by a plane that encloses the centre, on vertices of the limb."""
    heights = (p - center) @ normal
    following = {}
    for triangle in t.tolist():
        above = [heights[v] > 0 for v in triangle]
        if any(above) and not all(above):
            up = next(k for k in range(3) if not above[k] and above[(k + 1) % 3])
            down = next(k for k in range(3) if above[k] and not above[(k + 1) % 3])
            following[(triangle[up], triangle[(up + 1) % 3])] = (triangle[(down + 1) % 3], triangle[down])
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    x = np.cross(normal, helper)
    x /= np.linalg.norm(x)
    y = np.cross(normal, x)

    def point(edge):
        a, b = edge
        part = heights[a] / (heights[a] - heights[b])
        offset = p[a] + (p[b] - p[a]) * part - center
        return complex(offset @ x, offset @ y)

    best = None
    while following:
        start, edge = next(iter(following.items()))
        loop = [start]
        del following[start]
        while edge in following:
            loop.append(edge)
            edge = following.pop(edge)
        if edge != start:
            continue
        points = np.array([point(edge) for edge in loop])
        ahead = np.roll(points, -1)
        winding = np.angle(ahead / points).sum() / (2 * math.pi)
        length = np.abs(ahead - points).sum()
        if abs(winding) > 0.5 and of_limb[np.array(loop)].all() and (best is None or length < best):
            best = length
    return best


def hinges(parents, places):
    """[parent, joint, child] of joints between two bones; the child in the straightest continuation."""
    unit = lambda v: v / np.linalg.norm(v) if np.linalg.norm(v) > 1e-9 else None
    best = {}
    for child, joint in enumerate(parents):
        if joint is None or parents[joint] is None:
            continue
        before, after = unit(places[joint] - places[parents[joint]]), unit(places[child] - places[joint])
        if before is not None and after is not None and (joint not in best or before @ after > best[joint][0]):
            best[joint] = (before @ after, child)
    return [(parents[joint], joint, child) for joint, (_, child) in sorted(best.items())]


def distances_to_bones(p, bones):
    """[vertex, bone]; the bones are pairs of points."""
    columns = []
    for a, b in bones:
        along = b - a
        part = np.clip((p - a) @ along / max(along @ along, 1e-300), 0, 1)
        columns.append(np.linalg.norm(a + part[:, None] * along - p, axis=1))
    return np.stack(columns, axis=1)


def limbs(rest, parents, places):
    """For each hinge: which vertices are nearest to one of its bones or to a bone at their ends, or nearly."""
    bones = [(parent, joint) for joint, parent in enumerate(parents) if parent is not None]
    distances = distances_to_bones(rest, [(places[a], places[b]) for a, b in bones])
    near = distances <= 1.05 * distances.min(axis=1, keepdims=True)
    return {hinge: near[:, [bool(set(hinge) & set(bone)) for bone in bones]].any(axis=1) for hinge in hinges(parents, places)}


def girth(p, t, places, hinge, of_limb):
    a, b, c = (places[k] for k in hinge)
    before, after = (b - a) / np.linalg.norm(b - a), (c - b) / np.linalg.norm(c - b)
    normal = before + after
    length = np.linalg.norm(normal)
    return None if length < 1e-3 else section(p, t, b, normal / length, of_limb)


def percentile(values, part):
    """The value whose rank is nearest."""
    return np.sort(values)[math.floor(part * (len(values) - 1) + 0.5)]


def printed(value, quantity):
    """A value in the unit and with the digits of the tables."""
    unit, better = quantity["unit"], quantity["better"]
    if unit == "ratio" and better == "near zero":
        return float(f"{value * 100:.2f}")
    digits = {"ratio": 3, "count": 1}.get(unit, 2)
    return float(f"{value:.{digits}f}")


def fail(sentence):
    sys.exit(f"compare_metrics: {sentence}")


class Check:
    def __init__(self):
        self.worst = {}

    def number(self, where, quantity, found, expected):
        tolerance = TOLERANCE[quantity]
        if found is None or expected is None:
            if (found is None) != (expected is None):
                fail(f"{where}: {quantity} is {found}, expected {expected}")
            return
        apart = abs(found - expected)
        self.worst[quantity] = max(self.worst.get(quantity, 0.0), apart)
        if apart > tolerance * max(1.0, abs(expected)):
            fail(f"{where}: {quantity} is {found}, expected {expected} within {tolerance}")


def check_cells(job, report, check):
    rest_all, triangles = read_obj(job["rest"])
    first, t = weld(rest_all, triangles)
    rest = rest_all[first]
    edges, creases = edges_of(t), dihedral_edges(t)
    lengths = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    edges, lengths = edges[lengths > 0], lengths[lengths > 0]
    rest_volume, (rest_angles, rest_defined) = volume(rest, t), dihedrals(rest, t, creases)
    rest_pairs = intersecting(rest, t)
    names, parents, rest_places = read_bvh(job["rest_motion"])
    limb_of = limbs(rest, parents, rest_places)
    rest_girths = {hinge: girth(rest, t, rest_places, hinge, limb) for hinge, limb in limb_of.items()}
    rest_girths = {hinge: value for hinge, value in rest_girths.items() if value}
    positions = {}
    for cell in job["cells"]:
        positions[cell["method"], cell["pose"]] = np.array(json.load(open(cell["positions"]))["frames"][-1])
    known = {quantity["id"] for quantity in report["quantities"]}
    if known - set(TOLERANCE) - NOT_COMPUTED:
        fail(f"nothing computes {sorted(known - set(TOLERANCE) - NOT_COMPUTED)}")
    values = {(cell["method"], cell["pose"]): cell["values"] for cell in report["cells"]}
    for cell in job["cells"]:
        key = (cell["method"], cell["pose"])
        where, found, p = " ".join(key), values[key], positions[key][first]
        check.number(where, "volume_change", found["volume_change"], (volume(p, t) - rest_volume) / abs(rest_volume))
        ratios = np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1) / lengths
        for part, quantity in ((0.01, "stretch_p1"), (0.5, "stretch_p50"), (0.99, "stretch_p99")):
            check.number(where, quantity, found[quantity], percentile(ratios, part))
        check.number(where, "stretch_max", found["stretch_max"], ratios.max())
        check.number(where, "skin_energy", found["skin_energy"], skin_energy(rest, p, t))
        angles, defined = dihedrals(p, t, creases)
        change = (angles - rest_angles + 180) % 360 - 180
        change = change[defined & rest_defined]
        check.number(where, "roughness_deg", found["roughness_deg"], math.sqrt((change ** 2).mean()))
        near = np.abs(np.abs(change) - 45) < 1e-3
        count = int((np.abs(change) > 45).sum())
        if abs(found["new_creases"] - count) > near.sum():
            fail(f"{where}: new_creases is {found['new_creases']}, expected {count}")
        pairs = intersecting(p, t)
        check.number(where, "intersecting_pairs", found["intersecting_pairs"], len(pairs))
        check.number(where, "new_pairs", found["new_pairs"], len(pairs - rest_pairs))
        own_names, _, places = read_bvh(cell["motion"])
        assert own_names == names
        changes = [now / before - 1 for hinge, before in rest_girths.items() if (now := girth(p, t, places, hinge, limb_of[hinge]))]
        if "girth_change_min" in known:
            check.number(where, "girth_change_min", found["girth_change_min"], min(changes, default=None))
            check.number(where, "girth_change_max", found["girth_change_max"], max(changes, default=None))
        if "distance_rms_mm" in known:
            other = positions[job["reference"], cell["pose"]][first]
            apart = np.linalg.norm(p - other, axis=1) * job["metres_per_unit"] * 1000
            check.number(where, "distance_rms_mm", found["distance_rms_mm"], math.sqrt((apart ** 2).mean()))
            check.number(where, "distance_p99_mm", found["distance_p99_mm"], percentile(apart, 0.99))
            check.number(where, "distance_max_mm", found["distance_max_mm"], apart.max())


def interval_rank(count):
    """Largest k with P(B(count, 1/2) < k) <= 2.5 %."""
    below, k = Fraction(0), 0
    while 2 * k < count and below + Fraction(math.comb(count, k), 2 ** count) <= Fraction(25, 1000):
        below += Fraction(math.comb(count, k), 2 ** count)
        k += 1
    return k


def check_statistics(report):
    badness = {"lower": lambda v: v, "near zero": abs, "near one": lambda v: abs(v - 1)}
    for quantity in report["quantities"]:
        own = {}
        for cell in report["cells"]:
            value = cell["values"].get(quantity["id"])
            if value is not None:
                own.setdefault(cell["method"], {})[cell["pose"]] = value
        common = set.intersection(*(set(poses) for poses in own.values())) if own else set()
        medians = {}
        for method, poses in own.items():
            ordered = sorted(poses[pose] for pose in common)
            if not ordered:
                continue
            said = report["summary"][method][quantity["id"]]
            k = interval_rank(len(ordered))
            expected = [ordered[k - 1], ordered[-k]] if k else None
            medians[method] = badness[quantity["better"]](printed(float(np.median(ordered)), quantity))
            worst = max(ordered, key=badness[quantity["better"]])
            if not math.isclose(said["median"], float(np.median(ordered)), rel_tol=1e-12, abs_tol=1e-15):
                fail(f"{method}: median of {quantity['id']} is {said['median']}, expected {np.median(ordered)}")
            if said["interval"] != expected or said["count"] != len(ordered):
                fail(f"{method}: interval of {quantity['id']} is {said['interval']}, expected {expected}")
            if badness[quantity["better"]](said["worst"]) != badness[quantity["better"]](worst):
                fail(f"{method}: worst {quantity['id']} is {said['worst']}, expected {worst}")
        for method, median in medians.items():
            is_best = len(medians) > 1 and median == min(medians.values())
            if report["summary"][method][quantity["id"]]["best"] != is_best:
                fail(f"{method}: best in {quantity['id']} is {not is_best}, expected {is_best}")


def main():
    job = json.load(open(sys.argv[1]))
    report = json.load(open(job["report"]))
    check = Check()
    check_cells(job, report, check)
    check_statistics(report)
    for quantity, apart in check.worst.items():
        print(f"{quantity:20} at most {max(apart, 0.0):.2e} apart")


main()
