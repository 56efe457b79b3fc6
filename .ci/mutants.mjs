// npm run mutants: do the engine's tests notice wrong arithmetic? Each mutant is a copy of the engine with one small mistake in
// a rounding or a range; all tests pass in the original, so at least one must fail in each mutant.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble, main, root, runQuietly, say, step } from './shell.mjs';

const mutants = [
  ['fixed_point.h', '(1 << (shift - 1))) >> shift', '(1 << shift) / 4) >> shift', 'halves are rounded down'],
  ['fixed_point.h', '* m + (1 << 14)) >> 15', '* m) >> 15', 'products are cut off, not rounded'],
  [
    'fixed_point.h',
    'constexpr int kWideBits = 13;',
    'constexpr int kWideBits = 12;',
    'wide rows have a bit less',
  ],
  [
    'fixed_point.h',
    '> kWideMax ? shift + 1 : shift',
    '> kWideMax ? shift : shift',
    'a wide row may have 14 bits',
  ],
  ['fixed_point.h', 'limit * 32768 / max;', 'limit * 32768 / max + 1;', 'a re-scaled row may leave INT8'],
  ['fixed_point.h', 'a / b * 32768.0f + 0.5f', 'a / b * 32768.0f', 'ratios of scales are cut off'],
  ['kernels/reference.cc', 'how.residual[j] * 64', 'how.residual[j] * 32', 'half of the residual is lost'],
  ['kernels/reference.cc', 'c[j] = n * x[j] - sum', 'c[j] = n * x[j]', 'the norm does not centre'],
  [
    'kernels/simd_rows.cc',
    'shift > 0 ? 1 << (shift - 1) : 0',
    'shift > 0 ? (1 << (shift - 1)) - 1 : 0',
    'SIMD rounds halves down',
  ],
  ['kernels/simd128.cc', 'wasm_i32x4_shl(wide, 24)', 'wasm_i32x4_shl(wide, 23)', 'odd weights count half'],
  [
    'layers/polynomial_attention.cc',
    'smallest = std::min(smallest',
    'smallest = std::max(smallest',
    'the wrong scale',
  ],
  [
    'layers/polynomial_attention.cc',
    'delta / 128.0f : delta',
    'delta : delta',
    'δ at the wrong scale for n = 5',
  ],
];

const tree = join(root, 'build/mutants');

/** Builds the tests of the tree and tells whether one fails, or the compiler finds an assertion of its own violated. */
function fails() {
  const target = ['--build', join(tree, 'build/native'), '--target', 'octavo_tests'];
  const build = spawnSync('cmake', target, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (build.status !== 0) {
    if (build.stdout.includes('static assertion failed')) return true;
    throw new Trouble(`The tests cannot be built:\n${build.stdout.split('\n').slice(-20).join('\n')}`);
  }
  const args = ['--gtest_brief=1', '--gtest_fail_fast'];
  const { status } = spawnSync(join(tree, 'build/native/octavo_tests'), args, { stdio: 'ignore' });
  return status !== 0;
}

await main(async () => {
  mkdirSync(join(tree, 'build'), { recursive: true });
  for (const part of [
    'engine',
    'tests/engine',
    'tests/fuzz',
    'tests/data',
    'CMakeLists.txt',
    'CMakePresets.json',
  ])
    cpSync(join(root, part), join(tree, part), { recursive: true });
  const toolchain = join(tree, 'build/toolchain');
  if (!existsSync(toolchain)) symlinkSync(join(root, 'build/toolchain'), toolchain);
  runQuietly('cmake', ['--preset', 'native'], { cwd: tree });
  await step('The original', () => {
    if (fails()) throw new Trouble('A test fails without any mutation: run "npm test -- gtest" first.');
  });

  const survivors = [];
  for (const [name, from, to, what] of mutants) {
    await step(`${name}: ${what}`, () => {
      const file = join(tree, 'engine/src', name);
      const source = readFileSync(file, 'utf8');
      if (source.split(from).length !== 2)
        throw new Trouble(`"${from}" does not stand once in ${name}: mend .ci/mutants.mjs.`);
      writeFileSync(
        file,
        source.replace(from, () => to),
      );
      try {
        const noticed = fails();
        say(noticed ? '   noticed' : '   SURVIVES');
        if (!noticed) survivors.push(what);
      } finally {
        writeFileSync(file, source);
      }
    });
  }
  say(`\n${mutants.length - survivors.length} of ${mutants.length} mutants are noticed`);
  if (survivors.length > 0) throw new Trouble(`No test notices: ${survivors.join('; ')}.`);
});
