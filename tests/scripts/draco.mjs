// Compresses a .glb by Draco with Google's encoder, and decodes it with Google's decoder; or compares what Sinew bakes of both.
//
// Usage: draco.mjs IN.glb DRACO.glb PLAIN.glb [edgebreaker|sequential SPEED], or draco.mjs DRACO.json PLAIN.json; exits with 1 if positions
// differ at all: decoding is exact.

import { readFileSync } from "node:fs";

const [, , first, second, plain, method = "edgebreaker", speed = "5"] = process.argv;

if (first.endsWith(".json")) {
    const frames = [first, second].map((path) => JSON.parse(readFileSync(path, "utf8")).frames);
    const same = frames[0].flat(2).length > 0 && JSON.stringify(frames[0]) === JSON.stringify(frames[1]);
    console.log(`${first}: ${same ? "is" : "DIFFERS from"} what Google's decoder makes of it`);
    process.exit(same ? 0 : 1);
}

const { NodeIO } = await import("@gltf-transform/core");
const { ALL_EXTENSIONS, KHRDracoMeshCompression } = await import("@gltf-transform/extensions");
const { default: draco3d } = await import("draco3dgltf");

const io = new NodeIO().registerExtensions(ALL_EXTENSIONS).registerDependencies({
    "draco3d.decoder": await draco3d.createDecoderModule(),
    "draco3d.encoder": await draco3d.createEncoderModule(),
});
const document = await io.read(first);
// Draco compresses indexed triangles only.
const buffer = document.getRoot().listBuffers()[0];
for (const primitive of document.getRoot().listMeshes().flatMap((mesh) => mesh.listPrimitives())) {
    if (!primitive.getIndices()) {
        const corners = Uint32Array.from({ length: primitive.getAttribute("POSITION").getCount() }, (_, corner) => corner);
        primitive.setIndices(document.createAccessor().setType("SCALAR").setArray(corners).setBuffer(buffer));
    }
}
document
    .createExtension(KHRDracoMeshCompression)
    .setRequired(true)
    .setEncoderOptions({
        method: KHRDracoMeshCompression.EncoderMethod[method.toUpperCase()],
        encodeSpeed: Number(speed),
        decodeSpeed: Number(speed),
    });
await io.write(second, document);
const decoded = await io.read(second);
decoded
    .getRoot()
    .listExtensionsUsed()
    .find((extension) => extension.extensionName === "KHR_draco_mesh_compression")
    .dispose();
await io.write(plain, decoded);
