"""Linear blend and dual quaternion skinning of glTF files, written from the standards with numpy and nothing of Sinew.

    python3 parity_skinning.py JOBS.json

JOBS.json: {"file": GLB, "tolerance": part of the size, "frames": [{"method": "lbs"|"dqs", "clip": index, "time": seconds,
"pose": {"joint": {"rotation": [x,y,z,w], "translation": [x,y,z]}}, "positions": [[x,y,z],...]}, ...]}

Compares every frame's positions with its own and prints one line a frame; exit code 1 if one is further off than the tolerance.
"""
import json
import struct
import sys

import numpy as np

COMPONENT = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Gltf:
    def __init__(self, path):
        data = open(path, "rb").read()
        assert data[:4] == b"glTF", "a GLB is expected"
        at, self.json, self.bin = 12, None, b""
        while at < len(data):
            size, kind = struct.unpack_from("<II", data, at)
            chunk = data[at + 8 : at + 8 + size]
            if kind == 0x4E4F534A:
                self.json = json.loads(chunk)
            elif kind == 0x004E4942:
                self.bin = chunk
            at += 8 + size
        self.nodes = self.json["nodes"]
        self.parent = {c: i for i, n in enumerate(self.nodes) for c in n.get("children", [])}

    def accessor(self, index):
        a = self.json["accessors"][index]
        view = self.json["bufferViews"][a["bufferView"]]
        dtype, width = np.dtype(COMPONENT[a["componentType"]]), WIDTH[a["type"]]
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        stride = view.get("byteStride", dtype.itemsize * width)
        rows = [np.frombuffer(self.bin, dtype, width, start + i * stride) for i in range(a["count"])]
        out = np.array(rows).astype(np.float64 if dtype == np.float32 or a.get("normalized") else np.int64)
        if a.get("normalized"):
            out = np.maximum(out / np.iinfo(dtype).max, -1.0)
        return out

    def order(self):
        scene = self.json["scenes"][self.json.get("scene", 0)]
        stack, order = list(reversed(scene["nodes"])), []
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(reversed(self.nodes[node].get("children", [])))
        return order


def quat_mul(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def quat_matrix(q):
    x, y, z, w = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix_quat(m):
    """The eigenvector of the largest eigenvalue of Bar-Itzhack's matrix: no case distinctions."""
    k = np.array(
        [
            [m[0, 0] - m[1, 1] - m[2, 2], m[1, 0] + m[0, 1], m[2, 0] + m[0, 2], m[2, 1] - m[1, 2]],
            [m[1, 0] + m[0, 1], m[1, 1] - m[0, 0] - m[2, 2], m[2, 1] + m[1, 2], m[0, 2] - m[2, 0]],
            [m[2, 0] + m[0, 2], m[2, 1] + m[1, 2], m[2, 2] - m[0, 0] - m[1, 1], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], m[0, 0] + m[1, 1] + m[2, 2]],
        ]
    )
    return np.linalg.eigh(k)[1][:, -1]


def sample(times, values, kind, t):
    """glTF 2.0, appendix C."""
    n = len(times)
    rotation = values.shape[1] == 4
    per = 3 if kind == "CUBICSPLINE" else 1
    if t <= times[0] or n == 1:
        return values[1 if per == 3 else 0]
    if t >= times[-1]:
        return values[per * (n - 1) + (1 if per == 3 else 0)]
    k = int(np.searchsorted(times, t, side="right")) - 1
    d = times[k + 1] - times[k]
    u = (t - times[k]) / d
    if kind == "STEP":
        return values[k]
    if kind == "CUBICSPLINE":
        v0, b0, a1, v1 = values[3 * k + 1], values[3 * k + 2], values[3 * k + 3], values[3 * k + 4]
        return (2 * u**3 - 3 * u**2 + 1) * v0 + d * (u**3 - 2 * u**2 + u) * b0 + (3 * u**2 - 2 * u**3) * v1 + d * (u**3 - u**2) * a1
    a, b = values[k], values[k + 1]
    if not rotation:
        return a + (b - a) * u
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    c = a @ b
    if c < 0:
        b, c = -b, -c
    angle = np.arccos(min(c, 1.0))
    if angle < 1e-9:
        return a
    return (np.sin((1 - u) * angle) * a + np.sin(u * angle) * b) / np.sin(angle)


def locals_of(gltf, frame):
    trs = {}
    for i, node in enumerate(gltf.nodes):
        if "matrix" not in node:
            trs[i] = [
                np.array(node.get("translation", [0, 0, 0]), float),
                np.array(node.get("rotation", [0, 0, 0, 1]), float),
                np.array(node.get("scale", [1, 1, 1]), float),
            ]
    if frame.get("clip") is not None:
        animation = gltf.json["animations"][frame["clip"]]
        for channel in animation["channels"]:
            node, path = channel["target"].get("node"), channel["target"]["path"]
            if node is None or path == "weights":
                continue
            sampler = animation["samplers"][channel["sampler"]]
            times, values = gltf.accessor(sampler["input"])[:, 0], gltf.accessor(sampler["output"])
            slot = {"translation": 0, "rotation": 1, "scale": 2}[path]
            trs[node][slot] = sample(times, values, sampler.get("interpolation", "LINEAR"), frame["time"])
    for i, node in enumerate(gltf.nodes):
        delta = (frame.get("pose") or {}).get(node.get("name"))
        if delta:
            trs[i][0] = trs[i][0] + np.array(delta.get("translation", [0, 0, 0]))
            turn = np.array(delta.get("rotation", [0, 0, 0, 1]), float)
            trs[i][1] = quat_mul(turn / np.linalg.norm(turn), trs[i][1])
    out = []
    for i, node in enumerate(gltf.nodes):
        m = np.eye(4)
        if i in trs:
            t, r, s = trs[i]
            m[:3, :3] = quat_matrix(r) * s
            m[:3, 3] = t
        else:
            m = np.array(node["matrix"], float).reshape(4, 4).T
        out.append(m)
    return out


def worlds_of(gltf, local):
    world = {}

    def get(i):
        if i not in world:
            world[i] = get(gltf.parent[i]) @ local[i] if i in gltf.parent else local[i]
        return world[i]

    return [get(i) for i in range(len(local))]


def lbs(matrices, joints, weights, points):
    blended = np.einsum("vi,vijk->vjk", weights, matrices[joints])
    return np.einsum("vjk,vk->vj", blended[:, :3, :3], points) + blended[:, :3, 3]


def dqs(matrices, joints, weights, points):
    """Kavan et al. 2008 with the rigid part of M = R S blended as dual quaternions, S linearly before."""
    real, dual, stretch = [], [], []
    for m in matrices:
        u, _, vt = np.linalg.svd(m[:3, :3])
        u = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))])
        r = u @ vt
        q = matrix_quat(r)
        real.append(q)
        dual.append(0.5 * quat_mul(np.append(m[:3, 3], 0.0), q))
        stretch.append(r.T @ m[:3, :3])
    real, dual, stretch = np.array(real), np.array(dual), np.array(stretch)
    pivot = real[joints[np.arange(len(points)), np.argmax(weights, axis=1)]]
    q, d = real[joints], dual[joints]
    sign = np.where(np.einsum("vik,vk->vi", q, pivot) < 0, -1.0, 1.0) * weights
    q, d = np.einsum("vi,vik->vk", sign, q), np.einsum("vi,vik->vk", sign, d)
    norm = np.linalg.norm(q, axis=1, keepdims=True)
    q, d = q / norm, d / norm
    p = np.einsum("vi,vijk,vk->vj", weights, stretch[joints], points)
    r, w = q[:, :3], q[:, 3:]
    turned = p + 2 * np.cross(r, np.cross(r, p) + w * p)
    return turned + 2 * (w * d[:, :3] - d[:, 3:] * r + np.cross(r, d[:, :3]))


def skin(gltf, frame):
    world = worlds_of(gltf, locals_of(gltf, frame))
    out = []
    for node in gltf.order():
        spec = gltf.nodes[node]
        if "mesh" not in spec:
            continue
        for primitive in gltf.json["meshes"][spec["mesh"]]["primitives"]:
            attributes = primitive["attributes"]
            points = gltf.accessor(attributes["POSITION"])
            if "skin" in spec and "JOINTS_0" in attributes:
                s = gltf.json["skins"][spec["skin"]]
                ibm = gltf.accessor(s["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
                matrices = np.array([world[j] @ ibm[i] for i, j in enumerate(s["joints"])])
                sets = [n for n in range(8) if f"JOINTS_{n}" in attributes]
                joints = np.hstack([gltf.accessor(attributes[f"JOINTS_{n}"]) for n in sets])
                weights = np.hstack([gltf.accessor(attributes[f"WEIGHTS_{n}"]) for n in sets])
                weights = weights / weights.sum(axis=1, keepdims=True)
                out.append((lbs if frame["method"] == "lbs" else dqs)(matrices, joints, weights, points))
            else:
                out.append(points @ world[node][:3, :3].T + world[node][:3, 3])
    return np.vstack(out)


def main():
    jobs = json.load(open(sys.argv[1]))
    gltf = Gltf(jobs["file"])
    failed = False
    for i, frame in enumerate(jobs["frames"]):
        expected, actual = skin(gltf, frame), np.array(frame["positions"], float)
        assert expected.shape == actual.shape, f"{actual.shape} positions, {expected.shape} expected"
        size = np.linalg.norm(expected.max(axis=0) - expected.min(axis=0))
        distance = np.linalg.norm(expected - actual, axis=1) / size
        worst = int(np.argmax(np.where(np.isnan(distance), np.inf, distance)))
        ok = bool(distance[worst] <= jobs["tolerance"])
        failed |= not ok
        print(f"frame {i} {frame['method']}: vertex {worst} is off by {distance[worst]:.2e} of the size{'' if ok else '  TOO FAR'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
