// Builds a small app with every bundler that the package promises to work with, none of them configured. The results go to
// build/bundlers/apps; tests/browser/package-bundlers.test.ts runs them.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { isMain, main, root, runQuietly, say, step } from './shell.mjs';

const sources = join(root, 'tests/bundlers');
const results = join(root, 'build/bundlers');
const lock = createHash('sha256')
  .update(readFileSync(join(sources, 'package-lock.json')))
  .digest('hex')
  .slice(0, 16);
// Outside of this repository: Next.js takes the outermost package-lock.json for the app's own.
const home = join(tmpdir(), `octavo-bundlers-${lock}`);

/** The names and contents of all files below a directory, as one number. */
function hashOf(directory) {
  const sum = createHash('sha256');
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile()) sum.update(relative(directory, file)).update(readFileSync(file));
  }
  return sum.digest('hex');
}

/** Does the work unless it was done before for the same key, of which the file is the proof. */
function once(file, key, work) {
  if (existsSync(file) && readFileSync(file, 'utf8') === key) return false;
  rmSync(file, { force: true });
  work();
  writeFileSync(file, key);
  return true;
}

const npm = (args, cwd) =>
  runQuietly('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd });
const bundler = (name, args, cwd = home) =>
  runQuietly(join(home, 'node_modules/.bin', name), args, {
    cwd,
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  });

/** How each app is built, and into which directory; as in the first lines of the bundler's own documentation. */
const builds = {
  vite: (out) => bundler('vite', ['build', 'app', '--outDir', out, '--emptyOutDir']),
  webpack: (out) => {
    bundler('webpack', ['--entry', './app/main.js', '--output-path', out, '--mode', 'production']);
    copyPage(out, 'defer');
  },
  rollup: (out) => {
    bundler('rollup', ['app/main.js', '--dir', out, '--plugin', 'node-resolve']);
    bundler('octavo', ['--copy', out]);
    copyPage(out, 'type="module"');
  },
  esbuild: (out) => {
    bundler('esbuild', ['app/main.js', '--bundle', '--minify', `--outdir=${out}`]);
    bundler('octavo', ['--copy', out]);
    copyPage(out, 'defer');
  },
  'esbuild-modules': (out) => {
    bundler('esbuild', ['app/main.js', '--bundle', '--splitting', '--format=esm', `--outdir=${out}`]);
    bundler('octavo', ['--copy', out]);
    copyPage(out, 'type="module"');
  },
  next: (out) => {
    cpSync(join(home, 'next'), out, { recursive: true });
    cpSync(join(root, 'bindings/examples/react'), join(out, 'react'), { recursive: true });
    bundler('next', ['build'], out);
  },
};

/** The app's page for bundlers that take only scripts. */
function copyPage(out, kind) {
  const page = readFileSync(join(home, 'app/index.html'), 'utf8').replace('type="module"', kind);
  writeFileSync(join(out, 'index.html'), page);
  cpSync(join(home, 'app/icon.svg'), join(out, 'icon.svg'));
}

function install() {
  mkdirSync(home, { recursive: true });
  once(join(home, 'installed'), lock, () => {
    say('   installing the bundlers (430 MB)');
    rmSync(join(results, 'built'), { force: true });
    for (const name of ['package.json', 'package-lock.json']) cpSync(join(sources, name), join(home, name));
    npm(['ci'], home);
  });
}

export const buildWithBundlers = () =>
  step('Bundlers', () => {
    mkdirSync(results, { recursive: true });
    const [{ filename }] = JSON.parse(
      npm(['pack', '--json', '--pack-destination', results], join(root, 'dist')),
    );
    const tarball = join(results, filename);
    const key = createHash('sha256')
      .update(readFileSync(tarball))
      .update(hashOf(sources))
      .update(hashOf(join(root, 'bindings/examples/react')))
      .digest('hex');
    install();
    const fresh = once(join(results, 'built'), key, () => {
      npm(['install', '--no-save', '--no-package-lock', '--prefer-offline', tarball], home);
      for (const name of ['app', 'next', 'apps']) rmSync(join(home, name), { recursive: true, force: true });
      for (const name of ['app', 'next']) cpSync(join(sources, name), join(home, name), { recursive: true });
      rmSync(join(results, 'apps'), { recursive: true, force: true });
      for (const [name, build] of Object.entries(builds)) {
        const start = performance.now();
        const out = join(home, 'apps', name);
        build(out);
        const outputs = name === 'next' ? ['.next/static', '.next/server/app'] : ['.'];
        for (const output of outputs)
          cpSync(join(out, output), join(results, 'apps', name, output), { recursive: true });
        say(`   ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
      }
    });
    writeFileSync(join(results, 'home'), home); // for the tests of development servers
    if (!fresh) say('   built before: neither the package, nor the apps, nor the bundlers have changed');
  });

if (isMain(import.meta)) await main(buildWithBundlers);
