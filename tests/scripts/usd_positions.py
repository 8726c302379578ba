"""Reads USD files with Pixar's library (PyPI usd-core) and compares them with the positions that Sinew baked as .json.

Usage: usd_positions.py POSITIONS.json FPS FIRST_FRAME FILE...; exits with 1 and says what differs.
A file with a SkelRoot is a rig: its points are skinned by UsdSkel, at the times of the frames. Other files are point caches: frame n of
the positions is time code FIRST_FRAME + n. Every file must pass Pixar's own checks.
"""

import json
import sys

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdSkel, UsdUtils, Vt

# Of the size of the character: points are equal numbers, skinned ones are sums of floats.
CACHE, SKINNED = 1e-6, 2e-6
# Scales of animations are halves by the schema.
SCALED = 5e-4


def complaints(path):
    """What Pixar's checker says against a file."""
    try:
        from pxr import UsdValidation

        stage = Usd.Stage.Open(path)
        context = UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators())
        return [error.GetMessage() for error in context.Validate(stage)]
    except (ImportError, AttributeError):
        checker = UsdUtils.ComplianceChecker(arkit=False, skipARKitRootLayerCheck=True)
        checker.CheckCompliance(path)
        return checker.GetErrors() + checker.GetFailedChecks()


def meshes_of(stage):
    return [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]


def cache_points(stage, code):
    return np.concatenate([np.array(mesh.GetPointsAttr().Get(code)) for mesh in meshes_of(stage)])


def blended_points(mesh, query, of_skeleton, code, points):
    """Points displaced by the blend shapes."""
    shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(mesh.GetPrim()))
    weights = of_skeleton.GetAnimQuery().ComputeBlendShapeWeights(code)
    own = query.GetBlendShapeMapper().Remap(weights, Vt.FloatArray())
    parts = shapes.ComputeSubShapeWeights(own)
    points = Vt.Vec3fArray(points)
    indices, offsets = shapes.ComputeBlendShapePointIndices(), shapes.ComputeSubShapePointOffsets()
    assert shapes.ComputeDeformedPoints(*parts, indices, offsets, points), mesh
    return points


def skinned_points(stage, code):
    cache = UsdSkel.Cache()
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Root):
            cache.Populate(UsdSkel.Root(prim), Usd.PrimDefaultPredicate)
    xforms = UsdGeom.XformCache(code)
    found = []
    for mesh in meshes_of(stage):
        points = mesh.GetPointsAttr().Get()
        query = cache.GetSkinningQuery(mesh.GetPrim())
        skeleton = UsdSkel.BindingAPI(mesh.GetPrim()).GetInheritedSkeleton()
        of_skeleton = cache.GetSkelQuery(skeleton) if skeleton else None
        if query and query.HasBlendShapes() and of_skeleton.GetAnimQuery():
            points = blended_points(mesh, query, of_skeleton, code, points)
        if not query or not skeleton or not query.HasJointInfluences():
            place = xforms.GetLocalToWorldTransform(mesh.GetPrim())
            found.append(np.array([place.Transform(Gf.Vec3d(*map(float, p))) for p in points]))
            continue
        joints = of_skeleton.ComputeSkinningTransforms(code)
        if query.IsRigidlyDeformed():
            place = query.ComputeSkinnedTransform(joints, code)
            found.append(np.array([place.Transform(Gf.Vec3d(*map(float, p))) for p in points]))
            continue
        assert query.ComputeSkinnedPoints(joints, points, code), mesh
        found.append(np.array(points))
    return np.concatenate(found)


def has_scales(stage):
    """Whether an animation scales joints."""
    for prim in stage.Traverse():
        if prim.IsA(UsdSkel.Animation):
            scales = UsdSkel.Animation(prim).GetScalesAttr()
            for time in scales.GetTimeSamples():
                if np.abs(np.array(scales.Get(time), dtype=float) - 1).max() > 1e-5:
                    return True
    return False


def check(path, expected, fps, first):
    stage = Usd.Stage.Open(path)
    is_rig = any(prim.IsA(UsdSkel.Root) for prim in stage.Traverse())
    rate = stage.GetTimeCodesPerSecond()
    size = np.linalg.norm(np.ptp(expected[0], axis=0))
    worst = 0.0
    for n, wanted in enumerate(expected):
        code = (first + n) / fps * rate if is_rig else first + n
        actual = (skinned_points if is_rig else cache_points)(stage, Usd.TimeCode(code))
        if actual.shape != wanted.shape:
            print(f"{path}: {len(actual)} points instead of {len(wanted)}")
            return False
        worst = max(worst, np.abs(actual - wanted).max() / size)
    found = complaints(path)
    tolerance = (SCALED if has_scales(stage) else SKINNED) if is_rig else CACHE
    good = worst <= tolerance and not found
    for mesh in meshes_of(stage):
        normals = mesh.GetNormalsAttr().Get(first) or UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals").Get(first)
        if normals is None or not np.allclose(np.linalg.norm(np.array(normals), axis=1), 1, atol=1e-4):
            print(f"{path}: {mesh.GetPath()} has no unit normals")
            good = False
        if not is_rig:
            extent = np.array(mesh.GetExtentAttr().Get(first))
            points = np.array(mesh.GetPointsAttr().Get(first))
            good &= np.array_equal(extent, [points.min(axis=0), points.max(axis=0)])
        message = UsdGeom.Mesh.ValidateTopology(
            mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(), len(mesh.GetPointsAttr().Get(first))
        )
        good &= message[0] if isinstance(message, tuple) else bool(message)
    verdict = "agrees with" if good else "DIFFERS from"
    kind = "rig" if is_rig else "cache"
    print(f"{path}: {kind}, {len(expected)} frames, off by {worst:.2e} of the size: {verdict} Sinew")
    for complaint in found:
        print(f"{path}: {complaint}")
    return good


def main():
    positions, fps, first, *files = sys.argv[1:]
    with open(positions, encoding="utf-8") as file:
        expected = np.array(json.load(file)["frames"], dtype=np.float64)
    results = [check(path, expected, float(fps), int(first)) for path in files]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
