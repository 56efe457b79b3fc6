// Brings whatever is missing: Debian packages, Emscripten, sentencepiece's sources, npm packages.
// Quick when nothing is missing.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emscriptenPackages, installPackages } from './debian.mjs';
import { Trouble, isMain, main, root, runQuietly, say, step } from './shell.mjs';
import { emscriptenOnPath, installToolchain } from './toolchain.mjs';

/** npm ci, but only when package-lock.json is not the one that was installed. */
function installNpmPackages() {
  const stamp = join(root, 'node_modules/.octavo-lock');
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  say('   installing npm packages');
  runQuietly('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, lock);
}

export const setup = () =>
  step('Set-up', () => {
    const node = process.versions.node;
    if (Number(node.split('.')[0]) < 20) throw new Trouble(`Node 20 or newer is needed; this is ${node}.`);
    const ownEmscripten = emscriptenOnPath();
    installPackages(ownEmscripten ? {} : emscriptenPackages);
    installToolchain(ownEmscripten);
    installNpmPackages();
  });

if (isMain(import.meta)) await main(setup);
