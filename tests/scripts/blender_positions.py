"""Imports a .glb into Blender, plays it, and compares with the positions that Sinew baked as .json.

Usage: blender --background --factory-startup --python blender_positions.py -- FILE.glb POSITIONS.json FPS [FIRST_FRAME] [...]
(any number of such groups of four). Frame n of the positions is frame FIRST_FRAME + n of the timeline. Prints one line a file and
exits with 1 if any vertex is off by more than 1e-4 of the size.

Blender makes one object of a node's mesh, with the vertices that its triangles use, in their order. Objects are matched with nodes
by their number of vertices and by where those are in the first frame.
"""

import json
import struct
import sys

import bpy
import numpy as np

# Debian 12 ships an importer (Blender 3.4) that uses names which its NumPy has no more.
if not hasattr(np, "bool"):
    np.bool = bool

TOLERANCE = 1e-4
KINDS = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32}


def read_glb(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def corners(document, binary, primitive, count):
    if "indices" not in primitive:
        return np.arange(count)
    accessor = document["accessors"][primitive["indices"]]
    view = document["bufferViews"][accessor["bufferView"]]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    return np.frombuffer(binary, KINDS[accessor["componentType"]], accessor["count"], start)


def used_vertices(document, binary):
    """For every mesh node, depth-first: its used vertices among all vertices of the file."""
    nodes, used, first = document["nodes"], [], 0
    stack = list(reversed(document["scenes"][document.get("scene", 0)]["nodes"]))
    while stack:
        node = nodes[stack.pop()]
        stack.extend(reversed(node.get("children", [])))
        if "mesh" not in node:
            continue
        own = []
        for primitive in document["meshes"][node["mesh"]]["primitives"]:
            count = document["accessors"][primitive["attributes"]["POSITION"]]["count"]
            own.append(first + np.unique(corners(document, binary, primitive, count)))
            first += count
        used.append(np.concatenate(own))
    return used, first


def world_positions(thing, graph):
    """In glTF's axes: Blender has Z up."""
    evaluated = thing.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    flat = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    evaluated.to_mesh_clear()
    local = flat.reshape(-1, 3).astype(np.float64)
    matrix = np.array(evaluated.matrix_world)
    world = local @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)


def match(objects, expected, graph):
    """An object for every list of positions."""
    left = {thing.name: world_positions(thing, graph) for thing in objects}
    found = []
    for positions in expected:
        fitting = {name: np.abs(own - positions).max() for name, own in left.items() if own.shape == positions.shape}
        if not fitting:
            return None
        name = min(fitting, key=fitting.get)
        del left[name]
        found.append(bpy.data.objects[name])
    return found


def check(path, positions_path, fps, first):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = int(fps)
    bpy.ops.import_scene.gltf(filepath=path)
    with open(positions_path, encoding="utf-8") as file:
        frames = np.array(json.load(file)["frames"])
    used, count = used_vertices(*read_glb(path))
    if count != frames.shape[1]:
        return f"{count} vertices where {frames.shape[1]} were baked", False
    size = np.linalg.norm(np.ptp(frames[0], axis=0))
    scene.frame_set(first)
    graph = bpy.context.evaluated_depsgraph_get()
    # Helpers that Blender shows bones by hang in no scene but are there.
    objects = [thing for thing in scene.objects if thing.type == "MESH"]
    objects = match(objects, [frames[0][own] for own in used], graph)
    if objects is None:
        return "no object with the vertices of one of the nodes", False
    worst = 0.0
    for number, frame in enumerate(frames):
        scene.frame_set(first + number)
        graph = bpy.context.evaluated_depsgraph_get()
        for thing, own in zip(objects, used):
            distances = np.linalg.norm(world_positions(thing, graph) - frame[own], axis=1)
            worst = max(worst, float(distances.max()) / size)
    # Written so that NaN counts.
    return f"{len(frames)} frames, {count} vertices, off by {worst:.1e} of the size", bool(worst <= TOLERANCE)


def main():
    words = sys.argv[sys.argv.index("--") + 1 :]
    good = True
    for at in range(0, len(words), 4):
        path, positions, fps, first = words[at : at + 4]
        said, right = check(path, positions, float(fps), int(first))
        print(f"{path}: Blender {bpy.app.version_string}: {said}{'' if right else ' WRONG'}")
        good = good and right
    sys.exit(0 if good else 1)


main()
