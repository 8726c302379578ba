// Plays a baked .glb in three.js and compares with the positions that Sinew baked as .json.
//
// Usage: node three_positions.mjs FILE.glb POSITIONS.json FPS [FIRST_FRAME] [ANIMATION]
// Frame n of the positions is the time (FIRST_FRAME + n) / FPS. Vertices are met mesh by mesh, depth-first, which is the order of a
// bake. Without animations the file's rest must be every frame. Exits with 1 if any vertex is off by more than 1e-4 of the size.

import { readFileSync } from 'node:fs';
import * as THREE from 'three';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

globalThis.self = globalThis;
globalThis.ProgressEvent ??= class {};

const TOLERANCE = 1e-4;
const [path, positionsPath, fps, first = '0', animation] = process.argv.slice(2);
const expected = JSON.parse(readFileSync(positionsPath)).frames;

const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
// Nothing is drawn, so pictures, for which a browser is needed, are not decoded.
loader.register(() => ({ name: 'no pictures', loadTexture: async () => new THREE.Texture() }));
const bytes = readFileSync(path);
const gltf = await loader.parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), '');

const clip = animation === undefined ? gltf.animations[0] : gltf.animations.find((one) => one.name === animation);
const mixer = new THREE.AnimationMixer(gltf.scene);
const action = clip && mixer.clipAction(clip).setLoop(THREE.LoopOnce).play();

// Held after the end, as a bake is.
function goTo(seconds) {
  if (!action) return;
  action.clampWhenFinished = true;
  action.reset();
  mixer.setTime(Math.min(seconds, clip.duration));
}

const vertex = new THREE.Vector3();
function worldPositions() {
  gltf.scene.updateMatrixWorld(true);
  const all = [];
  gltf.scene.traverse((object) => {
    if (!object.isMesh) return;
    for (let i = 0; i < object.geometry.attributes.position.count; i++) {
      object.getVertexPosition(i, vertex).applyMatrix4(object.matrixWorld);
      all.push([vertex.x, vertex.y, vertex.z]);
    }
  });
  return all;
}

function sizeOf(points) {
  const box = new THREE.Box3();
  points.forEach((p) => box.expandByPoint(vertex.set(...p)));
  return box.getSize(new THREE.Vector3()).length();
}

const size = sizeOf(expected[0]);
let worst = 0;
let wrong = '';
expected.forEach((frame, n) => {
  goTo((Number(first) + n) / Number(fps));
  const actual = worldPositions();
  if (actual.length !== frame.length) {
    wrong = `${actual.length} vertices where ${frame.length} were baked`;
    return;
  }
  frame.forEach((p, i) => {
    const distance = Math.hypot(p[0] - actual[i][0], p[1] - actual[i][1], p[2] - actual[i][2]) / size;
    // Written so that NaN counts.
    if (!(distance <= worst)) worst = distance;
  });
});
const good = wrong === '' && worst <= TOLERANCE;
console.log(`${path}: three.js ${THREE.REVISION}: ${expected.length} frames, ${expected[0].length} vertices, off by ${worst.toExponential(1)} of the size ${wrong}${good ? '' : ' WRONG'}`);
process.exit(good ? 0 : 1);
