// Plays a distilled .glb with its spring bones in three.js (npm: three, @pixiv/three-vrm-springbone) and prints how far the skin is from
// the positions that Sinew baked as .json: with the springs, and without.
//
// Usage: node three_springs.mjs FILE.glb POSITIONS.json FPS ANIMATION RMS_MM
// Frame n of the positions is the time n / FPS; 60 / FPS is a whole number. Springs swing in steps of 1/60 s. RMS_MM is what
// `sinew distill` says of the clip by its keys; exits with 1 if three.js comes to something else by more than 1 %.

import { readFileSync } from 'node:fs';
import * as THREE from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { VRMSpringBoneLoaderPlugin } from '@pixiv/three-vrm-springbone';

globalThis.self = globalThis;
globalThis.ProgressEvent ??= class {};

const [path, positionsPath, fps, animation, told] = process.argv.slice(2);
const expected = JSON.parse(readFileSync(positionsPath)).frames;
const bytes = readFileSync(path);

async function distance(swings) {
  const loader = new GLTFLoader();
  // Nothing is drawn, so pictures, for which a browser is needed, are not decoded.
  loader.register(() => ({ name: 'no pictures', loadTexture: async () => new THREE.Texture() }));
  loader.register((parser) => new VRMSpringBoneLoaderPlugin(parser));
  const gltf = await loader.parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), '');
  const springs = gltf.userData.vrmSpringBoneManager;
  const clip = gltf.animations.find((one) => one.name === animation);
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const action = mixer.clipAction(clip).setLoop(THREE.LoopOnce).play();
  action.clampWhenFinished = true;
  const goTo = (seconds) => {
    action.reset();
    mixer.setTime(Math.min(seconds, clip.duration));
    gltf.scene.updateMatrixWorld(true);
  };
  goTo(0);
  springs.setInitState();
  springs.reset();
  const vertex = new THREE.Vector3();
  let [sum, count, worst] = [0, 0, 0];
  expected.forEach((positions, frame) => {
    const steps = frame === 0 ? 1 : Math.round(60 / Number(fps));
    for (let step = 1; step <= steps; step++) {
      goTo(frame / Number(fps) + (step - steps) / 60);
      if (swings) springs.update(1 / 60);
    }
    gltf.scene.updateMatrixWorld(true);
    let index = 0;
    gltf.scene.traverse((object) => {
      if (!object.isMesh) return;
      for (let i = 0; i < object.geometry.attributes.position.count; i++) {
        object.getVertexPosition(i, vertex).applyMatrix4(object.matrixWorld);
        const off = vertex.distanceTo(new THREE.Vector3(...positions[index++]));
        sum += off * off;
        count += 1;
        worst = Math.max(worst, off);
      }
    });
  });
  const rms = Math.sqrt(sum / count) * 1e3;
  const how = swings ? `with ${springs.joints.size} springs` : 'without springs';
  console.log(`${how}: rms ${rms.toFixed(3)} mm, largest ${(worst * 1e3).toFixed(1)} mm`);
  return rms;
}

await distance(false);
const rms = await distance(true);
process.exit(Math.abs(rms - Number(told)) <= 0.01 * Number(told) ? 0 : 1);
