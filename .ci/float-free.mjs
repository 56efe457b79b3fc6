// Proof of the project's promise: no floating-point instruction touches a tensor element before the logits.
//
// The forward pass is compiled to WebAssembly without inlining and disassembled, function by function:
//   - the kernels, where every loop over elements is, have no floating-point instruction at all;
//   - in the layers above them, which keep the scales in floating point, no function that reads or writes INT8 or INT16 elements
//     computes with floating point.
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Trouble, isMain, main, root, runQuietly, say, step } from './shell.mjs';

const kernels = ['reference', 'simd_rows', 'simd128', 'relaxed', 'fused'].map((name) => `kernels/${name}.cc`);
const layers = ['linear', 'l1_norm', 'embedding', 'polynomial_attention'].map((name) => `layers/${name}.cc`);

/** Not part of the forward pass: position codes are made when memory is reserved; log-probabilities are the end of it. */
const exempt = [/^octavo::position_codes\(/, /^octavo::IntegerTransformer::log_probabilities\(/];

// (The disassembler prints the untyped select and drop with some type.)
const floating = /^(f32|f64|f32x4|f64x2)\.(?!select|drop)/;
const arithmetic = /^(f32|f64|f32x4|f64x2)\.(?!select|drop|load|store|const)/;
/** Loads and stores of 8 and 16 bits; the unsigned 16-bit ones are the multipliers of scales. */
const element = /^(i32\.(load8_[su]|load16_s|store8)|v128\.(load|store))/;

/** The instructions of each function of a source file: name → mnemonics. */
function functions(source) {
  const compiler = join(root, 'build/toolchain/emscripten/em++');
  const llvm = runQuietly(join(root, 'build/toolchain/emscripten/em-config'), ['LLVM_ROOT']).trim();
  const object = join(root, 'build/float-free', `${basename(source)}.o`);
  const flags = [
    '-std=c++20',
    '-O1',
    '-fno-inline',
    '-msimd128',
    '-mrelaxed-simd',
    '-fno-exceptions',
    '-fno-rtti',
  ];
  const include = ['-Iengine/include', '-Iengine/src'];
  runQuietly(compiler, [...flags, ...include, '-c', join('engine/src', source), '-o', object]);
  const listing = runQuietly(join(llvm, 'llvm-objdump'), ['-d', '-C', '--no-show-raw-insn', object]);
  const found = new Map();
  let current = [];
  for (const line of listing.split('\n')) {
    const name = /^[0-9a-f]+ <(.+)>:$/.exec(line)?.[1];
    if (name) found.set(name, (current = []));
    const instruction = /^\s+[0-9a-f]+:\s+(\S+)/.exec(line)?.[1];
    if (instruction) current.push(instruction);
  }
  return found;
}

export const checkFloatFree = () =>
  step('No floating point on tensor elements', () => {
    mkdirSync(join(root, 'build/float-free'), { recursive: true });
    const offences = [];
    let checked = 0;
    const check = (source, offends) => {
      for (const [name, instructions] of functions(source)) {
        if (!name.startsWith('octavo::') || exempt.some((pattern) => pattern.test(name))) continue;
        checked += 1;
        if (offends(instructions)) offences.push(`${source}: ${name}`);
      }
    };
    for (const source of kernels) check(source, (code) => code.some((op) => floating.test(op)));
    for (const source of [...layers, 'integer_transformer.cc']) {
      check(source, (code) => code.some((op) => element.test(op)) && code.some((op) => arithmetic.test(op)));
    }
    if (checked < 40)
      throw new Trouble(`Only ${checked} functions were found: the disassembly is not what it was.`);
    if (offences.length > 0)
      throw new Trouble(`Floating point meets tensor elements in ${offences.join('; ')}.`);
    say(`   ${checked} functions of the forward pass disassembled`);
  });

if (isMain(import.meta)) await main(checkFloatFree);
