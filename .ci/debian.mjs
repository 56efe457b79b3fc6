// Debian's packages: installing them, and fetching single ones without touching the system.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { Trouble, cache, runQuietly, say, which } from './shell.mjs';

/** What the build needs from Debian: a package, and the program, header or file that shows it is there. */
const packages = {
  'g++': 'g++',
  cmake: 'cmake',
  'ninja-build': 'ninja',
  ccache: 'ccache',
  python3: 'python3',
  'clang-format-19': 'clang-format-19',
  chromium: 'chromium',
  'firefox-esr': 'firefox-esr',
  'libgtest-dev': '/usr/include/gtest/gtest.h',
  'libbenchmark-dev': '/usr/include/benchmark/benchmark.h',
  'libcli11-dev': '/usr/include/CLI/CLI.hpp',
  'nlohmann-json3-dev': '/usr/include/nlohmann/json.hpp',
  'libsimde-dev': '/usr/include/simde/wasm/simd128.h',
};

/** What Debian's Emscripten runs on, where the user brings none. */
export const emscriptenPackages = {
  'clang-19': '/usr/lib/llvm-19/bin/clang',
  'lld-19': '/usr/lib/llvm-19/bin/wasm-ld',
  'llvm-19': '/usr/lib/llvm-19/bin/llvm-ar',
};

/** Installs those of the named packages that are missing. */
export function installPackages(extra = {}) {
  const missing = Object.entries({ ...packages, ...extra })
    .filter(([, sign]) => !(isAbsolute(sign) ? existsSync(sign) : which(sign)))
    .map(([name]) => name);
  if (missing.length === 0) return;

  const list = missing.join(' ');
  if (!which('apt-get') || process.getuid() !== 0) {
    const remedy = `run this once as root on Debian 12 so that it can be set up (apt-get install ${list})`;
    if (missing.some((name) => name in emscriptenPackages)) {
      throw new Trouble(`emcc ≥ 3.1.69 is needed: ${remedy}, or put an emsdk's emcc on PATH.`);
    }
    throw new Trouble(`Something is missing: ${remedy}.`);
  }
  say(`   installing ${list}`);
  const options = ['-y', '-q', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  runQuietly('apt-get', ['update', '-q'], { env });
  runQuietly('apt-get', ['install', ...options, ...missing], { env });
}

/** The mirror that this machine's own "bookworm main" comes from, with its options. */
function mirror() {
  const directory = '/etc/apt/sources.list.d';
  const files = existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
  for (const file of ['/etc/apt/sources.list', ...files].filter((name) => /\.(list|sources)$/.test(name))) {
    if (!existsSync(file)) continue;
    const text = readFileSync(file, 'utf8').replace(/^#.*\n/gm, '');

    // One line each: deb [options] URI bookworm main …
    const line = /^deb\s+(\[.*?\])?\s*(\S+)\s+bookworm\s+(?:.*\s)?main\b/m.exec(text);
    if (line) return { options: line[1] ?? '', uri: line[2] };

    // One paragraph each: Types: deb, URIs: …, Suites: bookworm …, Components: main …
    for (const paragraph of text.split(/\n\s*\n/)) {
      const field = (name) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(paragraph)?.[1].trim() ?? '';
      const has = (name, word) => field(name).split(/\s+/).includes(word);
      if (!has('Types', 'deb') || !has('Suites', 'bookworm') || !has('Components', 'main')) continue;
      const key = field('Signed-By');
      return { options: isAbsolute(key) ? `[signed-by=${key}]` : '', uri: field('URIs').split(/\s+/)[0] };
    }
  }
  throw new Trouble(
    "emcc ≥ 3.1.69 is needed: set up on Debian 12, where it can be fetched, or put an emsdk's emcc on PATH.",
  );
}

/**
 * An apt of our own: it sees Debian 13's binaries and Debian 12's sources, and keeps its state in the cache.
 * Returns a function that runs apt-get with it in a directory.
 */
export function privateApt() {
  const home = join(cache, 'apt');
  const { options, uri } = mirror();
  for (const part of ['lists/partial', 'archives/partial']) mkdirSync(join(home, part), { recursive: true });
  writeFileSync(
    join(home, 'sources.list'),
    `deb ${options} ${uri} trixie main\ndeb-src ${options} ${uri} bookworm main\n`,
  );
  writeFileSync(
    join(home, 'apt.conf'),
    [
      `Dir::State::lists "${home}/lists";`,
      `Dir::Cache "${home}";`,
      `Dir::Etc::sourcelist "${home}/sources.list";`,
      'Dir::Etc::sourceparts "/dev/null";',
      'Dir::Etc::preferencesparts "/dev/null";',
      'APT::Sandbox::User "root";',
      'Acquire::Languages "none";',
      '',
    ].join('\n'),
  );
  const env = { ...process.env, APT_CONFIG: join(home, 'apt.conf') };
  const apt = (directory, ...args) => {
    try {
      return runQuietly('apt-get', ['-q', ...args], { env, cwd: directory });
    } catch (error) {
      throw new Trouble(
        `Nothing could be fetched from Debian 13: check the network, or put an emsdk's emcc ≥ 3.1.69 on PATH.`,
        { cause: error },
      );
    }
  };
  apt(home, 'update');
  return apt;
}
