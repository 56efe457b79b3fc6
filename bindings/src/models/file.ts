// A model's bytes, wherever they are: in memory, in the browser's cache, in a file.
import { failure } from '../errors.js';
import type { ModelHandle } from '../worker/protocol.js';

/** Something that holds a model, read only when it has to be. */
export interface ModelFile {
  /** In bytes. */
  readonly size: number;
  /** @internal What is sent to a worker, which then reads the model itself. */
  readonly handle: ModelHandle;
  /** Its bytes. */
  read(): Promise<Uint8Array<ArrayBuffer>>;
  /** @internal Forgets what was downloaded without a checksum, if it turns out to be no model: an error page, perhaps. */
  discard?(): Promise<unknown>;
}

/** A model in a `Blob`, which may well be on disk. */
export const blobFile = (blob: Blob): ModelFile => ({
  size: blob.size,
  handle: blob,
  read: async () => new Uint8Array(await blob.arrayBuffer()),
});

/** The SHA-256 of some bytes, in hexadecimal. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined;
  if (!subtle) {
    const remedy = 'Serve the page by https (or from localhost), or give `create` the model itself.';
    throw failure('NotSupportedError', `Downloads can only be verified in a secure context. ${remedy}`);
  }
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
