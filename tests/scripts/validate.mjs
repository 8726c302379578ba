// The Khronos validator on glTF files. Usage: node validate.mjs FILE...; exits with 1 if any has an error.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import validator from 'gltf-validator';

let failed = 0;
for (const path of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(path)), {
    uri: path,
    maxIssues: 1000,
    externalResourceFunction: async (uri) => new Uint8Array(readFileSync(join(dirname(path), decodeURIComponent(uri)))),
  });
  const { numErrors, numWarnings, messages } = report.issues;
  const codes = {};
  for (const message of messages.filter((m) => m.severity <= 1)) {
    codes[message.code] = (codes[message.code] ?? 0) + 1;
  }
  console.log(`${path}: ${numErrors} errors, ${numWarnings} warnings ${JSON.stringify(codes)}`);
  for (const message of messages.filter((m) => m.severity === 0).slice(0, 5)) {
    console.log(`  ${message.code} ${message.pointer ?? ''}: ${message.message}`);
  }
  failed += numErrors > 0 ? 1 : 0;
}
process.exit(failed > 0 ? 1 : 0);
