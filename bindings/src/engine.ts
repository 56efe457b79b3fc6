// Loads the WebAssembly engine in the variant that suits the machine.
import type { MainModule } from './simd128/octavo.mjs';

/** The engine's builds: `relaxed` is faster and gives the same bits, where the browser can run it. */
export type Variant = 'relaxed' | 'simd128';

/** The engine as Emscripten presents it, and which build it is. */
export interface Engine {
  readonly variant: Variant;
  readonly module: MainModule;
}

// The smallest module with i32x4.relaxed_dot_i8x16_i7x16_add_s, the instruction that makes the difference.
const relaxedProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0],
  ...[65, 1, 253, 15, 65, 2, 253, 15, 65, 3, 253, 15, 253, 147, 2, 11],
);

/** The variants that run here, the best first. */
export function supportedVariants(): Variant[] {
  return WebAssembly.validate(relaxedProbe) ? ['relaxed', 'simd128'] : ['simd128'];
}

/** Loads the best variant that runs here, or the one that is asked for. */
export async function loadEngine(variant = supportedVariants()[0] ?? 'simd128'): Promise<Engine> {
  const { default: create } =
    variant === 'relaxed' ? await import('./relaxed/octavo.mjs') : await import('./simd128/octavo.mjs');
  return { variant, module: await create() };
}
