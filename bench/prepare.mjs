// Everything that the measurements need and that is not in the repository: the other engines, the probe, the models.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wasmBuilds } from '../.ci/build.mjs';
import { Trouble, root, runQuietly, say } from '../.ci/shell.mjs';
import { marianModel } from './marian-model.mjs';

export const directory = join(root, 'build/bench');
const shippedModel = join(root, 'models/en-de/model.octavo');

/** The shape that is shipped, as `octavo random` knows it too. */
const shipped = { vocabulary: 8000, width: 256, ffn: 1024, heads: 8, encoder: 6, decoder: 3 };
/** Padding, end mark and unknown piece of our vocabularies: what a model with random weights must not produce. */
const silent = [0, 1, 2];

const time = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Makes a file unless it is newer than all that it is made of. */
function make(name, sources, write) {
  const file = join(directory, name);
  if (sources.every((source) => time(join(root, source)) < time(file))) return;
  say(`   making build/bench/${name}`);
  write(file);
}

function installPeers() {
  const lock = readFileSync(join(root, 'bench/package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  const stamp = join(root, 'bench/node_modules/.octavo-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  say('   installing Bergamot and onnxruntime-web, for the benchmark only');
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  runQuietly('npm', ['ci', ...quiet], { cwd: join(root, 'bench') });
  writeFileSync(stamp, hash);
}

/** The sentencepiece model inside a model file; its place is in the header (engine/src/model_file.h). */
function vocabularyOf(file) {
  const bytes = readFileSync(file);
  const start = Number(bytes.readBigUInt64LE(96));
  return bytes.subarray(start, start + bytes.readUInt32LE(72));
}

/** Prepares all; `shapes` are those whose models are needed. */
export function prepare(shapes) {
  const tool = join(root, 'build/native/octavo');
  if (!existsSync(tool) || !existsSync(join(root, 'dist/relaxed/octavo.wasm')))
    throw new Trouble('There is nothing to measure yet: run "npm run build" first.');
  mkdirSync(directory, { recursive: true });
  installPeers();
  for (const preset of Object.values(wasmBuilds))
    runQuietly('cmake', ['--build', '--preset', preset, '--target', 'octavo_probe']);
  const sources = ['engine/tools/random.cc', 'engine/src/quantizer.cc', 'engine/src/model_file.h'];
  for (const shape of shapes) {
    for (const flavour of ['int8', 'float', 'vanilla']) {
      make(`${shape}-${flavour}.octavo`, sources, (file) =>
        runQuietly(tool, [
          'random',
          file,
          '--shape',
          shape,
          '--flavour',
          flavour,
          '--vocabulary-of',
          shippedModel,
        ]),
      );
    }
  }
  make('marian.bin', ['bench/marian-model.mjs'], (file) => writeFileSync(file, marianModel(shipped, silent)));
  make('vocabulary.spm', ['models/en-de/model.octavo'], (file) =>
    writeFileSync(file, vocabularyOf(shippedModel)),
  );
}
