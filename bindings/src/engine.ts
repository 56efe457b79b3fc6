// Loads the WebAssembly engine in the variant that suits the machine.
import createRelaxed from './relaxed/octavo.mjs';
import createSimd128 from './simd128/octavo.mjs';
import type { MainModule } from './simd128/octavo.mjs' with { 'resolution-mode': 'import' };
import { supportedVariants, type Variant } from './variants.js';

/** The engine as Emscripten presents it, and which build it is. */
export interface Engine {
  /** Which build it is. */
  readonly variant: Variant;
  /** The size of the WebAssembly file. */
  readonly wasmBytes: number;
  /** What Emscripten exports. */
  readonly module: MainModule;
}

// Each address stands whole where it is used: that is how bundlers find the file and put it beside their output.
const builds = {
  relaxed: { create: createRelaxed, wasm: () => new URL('./relaxed/octavo.wasm', import.meta.url) },
  simd128: { create: createSimd128, wasm: () => new URL('./simd128/octavo.wasm', import.meta.url) },
};

/** Loads the best variant that runs here, or the one that is asked for. */
export async function loadEngine(variant = supportedVariants()[0] ?? 'simd128'): Promise<Engine> {
  const { create, wasm } = builds[variant];
  const wasmBinary = await readWasm(wasm());
  return { variant, wasmBytes: wasmBinary.byteLength, module: await create({ wasmBinary }) };
}

async function readWasm(url: URL): Promise<Uint8Array> {
  // Node does not fetch files, and bundlers for the web stumble over an import of `node:fs`: hence this way.
  if (url.protocol === 'file:') return process.getBuiltinModule('node:fs').readFileSync(url);
  const response = await fetch(url, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`The engine is not at ${url.href} (${String(response.status)}).`);
  return new Uint8Array(await response.arrayBuffer());
}
