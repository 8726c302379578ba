"""Tests the installed Python module `sinew`: shapes, linear blending computed again with NumPy, physics, errors."""

import numpy as np
import sinew

character = sinew.open("builtin:arm")
vertices, joints = len(character.rest), len(character.joints)
assert character.rest.shape == (vertices, 3) and character.rest.dtype == np.float32
assert character.faces.max() == vertices - 1 and character.faces.shape[1] == 3
assert character.parents.shape == (joints,) and character.parents[0] == -1
assert character.weights.shape == (vertices, joints)
assert np.allclose(character.weights.sum(axis=1), 1, atol=1e-5)

# The rest pose moves nothing, and linear blending is what its formula says.
rest = character.pose()
assert np.abs(character.skin("lbs", rest) - character.rest).max() < 1e-6
bent = character.pose(rotate={character.joints[1]: (0, 0, 60)})
by_lbs = character.skin("lbs", bent)
moved = bent @ np.linalg.inv(rest)
points = np.concatenate([character.rest, np.ones((vertices, 1))], axis=1)
expected = np.einsum("vj,jrc,vc->vr", character.weights, moved, points)[:, :3]
assert np.abs(by_lbs - expected).max() < 1e-5, np.abs(by_lbs - expected).max()

# A frame at a time, and a clip.
assert "pd" in sinew.methods()
skinner = character.bind("pd")
clip, seconds = character.clips[0]
for time in np.linspace(0, min(seconds, 0.2), 5):
    positions = skinner.skin(character.pose(clip=clip, at=time), dt=0.05)
assert positions.shape == (vertices, 3) and np.isfinite(positions).all()
assert np.allclose(np.linalg.norm(skinner.normals, axis=1), 1, atol=1e-4)

# Physics keeps more volume in a bend than linear blending.
metrics = [character.metrics(character.skin(method, bent), bent) for method in ["lbs", "pd"]]
assert abs(metrics[1]["volume_change"]) < abs(metrics[0]["volume_change"]), metrics

# What is wrong gives one sentence.
for call, part in [
    (lambda: sinew.open("no such file.glb"), "no such file"),
    (lambda: character.skin("none"), "there is no method"),
    (lambda: character.skin("lbs", np.eye(4)[None]), "expected"),
    (lambda: character.skin("lbs", np.full((joints, 4, 4), np.nan)), "pose"),
    (lambda: character.pose(rotate={"nobody": (0, 0, 0)}), "there is no joint"),
    (lambda: character.pose(clip="none"), "there is no clip"),
    (lambda: character.metrics(np.zeros((3, 3), np.float32)), "vertices"),
]:
    try:
        call()
    except (ValueError, RuntimeError) as error:
        assert part in str(error) and "\n" not in str(error), error
    else:
        raise AssertionError(part)
print(f"{character!r} agrees with NumPy; volume changes by lbs and pd: {[round(m['volume_change'], 4) for m in metrics]}")
