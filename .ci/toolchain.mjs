// Emscripten and sentencepiece's sources: fetched once into the cache, linked into build/toolchain/.
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { privateApt } from './debian.mjs';
import { cache, root, runQuietly, say, which } from './shell.mjs';

/** Emscripten 3.1.69 as Debian 13 ships it, and what it takes to run it on Debian 12. */
const emscripten = {
  revision: 1, // of how this file unpacks it; a new number makes everyone fetch it again
  oldest: [3, 1, 69],
  // binaryen's programs are linked against Debian 13's C and C++ libraries; these come along for them alone.
  packages: ['emscripten', 'binaryen', 'libc6', 'libstdc++6', 'libgcc-s1'],
  // 1.4 GB of library variants and documents that no build here asks for.
  leftOut: [
    ...['lto', 'thinlto', 'pic', 'libGL*', 'libwasmfs*', '*-mt*', '*-ww*', '*asan*'].map(
      (name) => `*/wasm32-emscripten/${name}`,
    ),
    ...['doc', 'man', 'emscripten/test'].map((name) => `./usr/share/${name}`),
  ],
  // acorn: Emscripten's JavaScript optimiser. typescript: --emit-tsd.
  npm: ['acorn@8.19.0', 'typescript@5.9.3'],
};

/** As Debian 12 has it. Natively and in WebAssembly the same sources are compiled. */
const sentencepiece = { revision: 1, version: '0.1.97', parts: ['src', 'third_party', 'LICENSE'] };

/** The directory of a new enough Emscripten that is on PATH, or undefined. */
export function emscriptenOnPath() {
  if (!which('emcc') || !which('em-config')) return undefined;
  const version = /(\d+)\.(\d+)\.(\d+)/.exec(runQuietly('emcc', ['--version']));
  const newer =
    emscripten.oldest.map((part, i) => Number(version?.[i + 1] ?? 0) - part).find((d) => d !== 0) ?? 0;
  return newer < 0 ? undefined : runQuietly('em-config', ['EMSCRIPTEN_ROOT']).trim();
}

/** Makes sure that Emscripten (the user's own, if given) and sentencepiece are there and linked. */
export function installToolchain(ownEmscripten) {
  let apt; // set up on first use only: it downloads package lists
  const lazyApt = (...args) => (apt ??= privateApt())(...args);

  link('emscripten', ownEmscripten ?? join(once('emscripten', emscripten, fetchEmscripten, lazyApt), home));
  link('sentencepiece', once('sentencepiece', sentencepiece, fetchSentencepiece, lazyApt));
}

/**
 * A directory of the cache, named after its recipe and filled at most once. It gets its name when it is
 * complete, so that an interrupted download is never taken for a finished one.
 */
function once(name, recipe, fill, apt) {
  const key = createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 12);
  const final = join(cache, `${name}-${key}`);
  if (existsSync(final)) return final;
  const partial = `${final}.partial`;
  const download = join(partial, 'download');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(download, { recursive: true });
  fill({ partial, final, download, apt });
  rmSync(download, { recursive: true });
  renameSync(partial, final);
  return final;
}

/** Where the package has Emscripten. */
const home = 'usr/share/emscripten';

function fetchEmscripten({ partial, final, download, apt }) {
  say('   fetching Emscripten 3.1.69 (250 MB, about a minute)');
  apt(download, 'download', ...emscripten.packages);
  const exclude = emscripten.leftOut.map((pattern) => `--exclude='${pattern}'`).join(' ');
  for (const deb of readdirSync(download)) {
    const unpack = `dpkg-deb --fsys-tarfile '${deb}' | tar -x -C '${partial}' ${exclude}`;
    runQuietly('bash', ['-o', 'pipefail', '-c', unpack], { cwd: download });
  }
  wrapBinaryen(partial, final);

  // Emscripten reads this file beside emcc; it is Python, and so can put tsc on the path.
  const config = [
    'import os',
    `LLVM_ROOT = '/usr/lib/llvm-19/bin'`,
    `BINARYEN_ROOT = '${final}/binaryen'`,
    `CACHE = '${final}/${home}/cache'`,
    `os.environ['PATH'] = '${final}/${home}/node_modules/.bin' + os.pathsep + os.environ['PATH']`,
  ];
  writeFileSync(join(partial, home, '.emscripten'), config.join('\n') + '\n');
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
  runQuietly('npm', ['install', ...quiet, ...emscripten.npm], { cwd: join(partial, home) });
}

/** Scripts that run binaryen's programs with the C library that came with them. */
function wrapBinaryen(partial, final) {
  const architecture = readdirSync(join(partial, 'usr/lib')).find((name) => name.endsWith('-linux-gnu'));
  const loader = readdirSync(join(partial, 'usr/lib', architecture)).find((name) => /^ld-linux/.test(name));
  const libraries = join(final, 'usr/lib', architecture);
  mkdirSync(join(partial, 'binaryen/bin'), { recursive: true });
  for (const tool of readdirSync(join(partial, 'usr/bin')).filter((name) => name.startsWith('wasm'))) {
    const command = `'${libraries}/${loader}' --library-path '${libraries}' '${final}/usr/bin/${tool}'`;
    const file = join(partial, 'binaryen/bin', tool);
    writeFileSync(file, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  }
}

function fetchSentencepiece({ partial, download, apt }) {
  say("   fetching sentencepiece's sources (12 MB)");
  apt(download, 'source', '--only-source', '--download-only', 'sentencepiece');
  const archive = join(download, `sentencepiece_${sentencepiece.version}.orig.tar.gz`);
  const parts = sentencepiece.parts.map((name) => `sentencepiece-${sentencepiece.version}/${name}`);
  runQuietly('tar', ['-xf', archive, '-C', partial, '--strip-components=1', ...parts]);
}

/** Points build/toolchain/<name> to a directory. */
function link(name, target) {
  const path = join(root, 'build/toolchain', name);
  const present = lstatSync(path, { throwIfNoEntry: false });
  if (present && readlinkSync(path) === target) return;
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  symlinkSync(target, path);
}
