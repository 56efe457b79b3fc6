// Which build of the engine suits the machine. Kept apart from the engine, so that a page can ask without loading it.

/** The engine's builds: `relaxed` is faster and gives the same bits, where the browser can run it. */
export type Variant = 'relaxed' | 'simd128';

// The smallest module with i32x4.relaxed_dot_i8x16_i7x16_add_s, the instruction that makes the difference.
const relaxedProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0],
  ...[65, 1, 253, 15, 65, 2, 253, 15, 65, 3, 253, 15, 253, 147, 2, 11],
);

/** The variants that run here, the best first. */
export function supportedVariants(): Variant[] {
  return WebAssembly.validate(relaxedProbe) ? ['relaxed', 'simd128'] : ['simd128'];
}
