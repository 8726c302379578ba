"""Direct delta mush, written from Le and Lewis 2019 and the departures that src/methods/ddm names, with dense matrices of numpy in f64 and
nothing of Sinew.

    python3 parity_ddm.py JOB.json

JOB.json (tests/skinning/parity_ddm.rs writes it; SINEW_KEEP_PARITY=1 keeps it in the folder of temporary files):
{"tolerance": part of the size, "positions": [[x,y,z],...], "triangles": [[a,b,c],...], "weights": [[[joint, weight],...],...],
"bones": [{"joint": j, "ends": [[x,y,z],[x,y,z]]},...], "bind": [4 x 4 rows,...], "values": {parameter: number},
"frames": [{"joints": [4 x 4 rows,...], "positions": [[x,y,z],...]},...]}

Recomputes everything and prints one line a frame; exit code 1 if a frame is further off than the tolerance. The skin must be one shell.
"""
import json
import sys

import numpy as np

STEPS, INFLUENCES, LEAST, BALL = 4, 8, 1e-3, 1e-3


def cotangents(points, triangles):
    """Half the sum of the cotangents opposite every edge, at least 0.05, and a third of the areas around every vertex."""
    n = len(points)
    edges, areas = {}, np.zeros(n)
    for triangle in triangles:
        p = points[triangle]
        double = np.linalg.norm(np.cross(p[1] - p[0], p[2] - p[0]))
        areas[triangle] += double / 6
        cots = []
        for k in range(3):
            a, b, c = p[k], p[(k + 1) % 3], p[(k + 2) % 3]
            cots.append(np.dot(b - a, c - a) / double if double > 0 else np.nan)
        if not all(abs(c) <= 100 for c in cots):
            cots = [0.0 if np.isnan(c) else min(max(c, 0.0), 100.0) for c in cots]
        for k in range(3):
            a, b = sorted((triangle[(k + 1) % 3], triangle[(k + 2) % 3]))
            edges[a, b] = edges.get((a, b), 0.0) + 0.5 * cots[k]
    areas = np.maximum(areas, 1e-6 * areas.mean())
    return {edge: max(weight, 0.05) for edge, weight in edges.items()}, areas


def laplacian(n, edges, weight):
    matrix = np.zeros((n, n))
    for (a, b), conductance in edges.items():
        w = weight(a, b, conductance)
        matrix[a, a] += w
        matrix[b, b] += w
        matrix[a, b] -= w
        matrix[b, a] -= w
    return matrix


def thickness(points, edges, areas, bones, used, size):
    """Distance to the nearest bone that moves some of the skin, averaged over the surface."""
    low, high = 2e-3 * size, 0.12 * size
    r = np.full(len(points), high)
    for bone in bones:
        if bone["joint"] not in used:
            continue
        a, b = np.array(bone["ends"], float)
        axis, length = b - a, np.dot(b - a, b - a)
        t = np.clip((points - a) @ axis / length, 0, 1) if length > 0 else np.zeros(len(points))
        r = np.minimum(r, np.linalg.norm(points - (a + t[:, None] * axis), axis=1))
    r = np.maximum(r, low)
    time = (0.5 * r) ** 2
    matrix = np.diag(areas) + laplacian(len(points), edges, lambda a, b, k: k * (time[a] + time[b]) / 2)
    return np.clip(np.linalg.solve(matrix, areas * r), low, high)


def smoother(n, edges, areas, radii, values, reach, edge_weight):
    """The n x n matrix that smooths a column of numbers."""
    if values["by-edges"] > 0.5:
        plain = laplacian(n, edges, lambda a, b, k: k)
        diagonal = np.diag(np.diag(plain))
        step = np.linalg.solve(diagonal + edge_weight * plain, diagonal)
        return np.linalg.matrix_power(step, 20)
    time = (values[reach] * radii) ** 2 / STEPS
    matrix = np.diag(areas) + laplacian(n, edges, lambda a, b, k: k * (time[a] + time[b]) / 2)
    return np.linalg.matrix_power(np.linalg.solve(matrix, np.diag(areas)), STEPS)


def omegas(points, edges, areas, radii, weights, values, size):
    """For every vertex p relative to it, a list of (joint, 4 x 4 matrix relative to it), and its unit of length."""
    n, joints = weights.shape
    alpha = values["translation"]
    b = smoother(n, edges, areas, radii, values, "reach", 3.0)
    c = smoother(n, edges, areas, radii, values, "weight-reach", 1.0)
    blended = c @ weights
    out = []
    for i in range(n):
        u = np.hstack([points - points[i], np.ones((n, 1))])
        psi = np.einsum("k,kj,ka,kb->jab", b[i], weights, u, u, optimize=True)
        whole = np.einsum("k,ka,kb->ab", b[i], u, u)
        p = whole[:3, 3]
        unit = max(np.sqrt(np.trace(whole[:3, :3] - np.outer(p, p))), 1e-4 * size)
        p1 = np.append(p, 1.0)
        ball = np.diag([1, 1, 1, 0]) * BALL * (1 - alpha) * unit * unit
        total = (1 - alpha) * whole + alpha * np.outer(p1, p1) + ball
        own = []
        for j in range(joints):
            omega = (1 - alpha) * psi[j] + alpha * blended[i, j] * np.outer(p1, p1)
            if omega[3, 3] > LEAST:
                own.append((j, omega + ball * omega[3, 3]))
        own.sort(key=lambda e: (-e[1][3, 3], e[0]))
        cut = max(own[INFLUENCES][1][3, 3], LEAST) if len(own) > INFLUENCES else LEAST
        own = own[:INFLUENCES]
        faded = [(j, o * np.clip((o[3, 3] - cut) / cut, 0, 1)) for j, o in own]
        faded = [e for e in faded if e[1][3, 3] > 0] or own
        left = total - sum(o for _, o in faded)
        weight = sum(o[3, 3] for _, o in faded)
        out.append((p, [(j, o + o[3, 3] / weight * left) for j, o in faded]))
    return out


def polar(m):
    """Rotation and symmetric stretch, with -1 in both where m reflects."""
    u, _, vt = np.linalg.svd(m)
    rotation = u @ vt * np.sign(np.linalg.det(u @ vt))
    return rotation, rotation.T @ m


def closest_rotation(m):
    u, _, vt = np.linalg.svd(m)
    return u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt


def skin(points, omega, bind, joints):
    moves = [joint @ np.linalg.inv(at) for joint, at in zip(joints, bind)]
    stretches = [polar(m[:3, :3])[1] for m in moves]
    out = np.zeros_like(points)
    for i, (p, own) in enumerate(omega):
        shift = np.eye(4)
        shift[:3, 3] = points[i]
        s = sum(moves[j] @ shift @ o for j, o in own)
        q_matrix, q = s[:3, :3], s[:3, 3]
        stretch = sum(stretches[j] * o[3, 3] for j, o in own)
        rotation = closest_rotation((q_matrix - np.outer(q, p)) @ stretch)
        out[i] = q - rotation @ stretch @ p
    return out


def main():
    job = json.load(open(sys.argv[1]))
    points = np.array(job["positions"], float)
    triangles = [tuple(t) for t in job["triangles"]]
    bind = [np.array(m) for m in job["bind"]]
    weights = np.zeros((len(points), len(bind)))
    for v, row in enumerate(job["weights"]):
        for joint, weight in row:
            weights[v, joint] = weight
    size = np.linalg.norm(points.max(axis=0) - points.min(axis=0))
    edges, areas = cotangents(points, [list(t) for t in triangles])
    used = {j for j in range(len(bind)) if weights[:, j].any()}
    radii = thickness(points, edges, areas, job["bones"], used, size)
    omega = omegas(points, edges, areas, radii, weights, job["values"], size)
    failed = False
    for i, frame in enumerate(job["frames"]):
        expected = skin(points, omega, bind, [np.array(m) for m in frame["joints"]])
        distance = np.linalg.norm(expected - np.array(frame["positions"], float), axis=1) / size
        worst = int(np.argmax(np.where(np.isnan(distance), np.inf, distance)))
        ok = bool(distance[worst] <= job["tolerance"])
        failed |= not ok
        print(f"frame {i}: vertex {worst} is off by {distance[worst]:.2e} of the size{'' if ok else '  TOO FAR'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
