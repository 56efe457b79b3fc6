// What a host sends, which may be without end, and how much of it we take.

/** What WebAssembly's memory can hold in all: no model that works is larger, whatever a host says or sends. */
export const maxModelBytes = 2 ** 31;

/** Hands over what an answer brings, piece by piece. Whoever takes it can end that by throwing. */
export async function receive(
  { body }: Response,
  take: (chunk: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  const reader = body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) take(next.value);
  } finally {
    reader?.cancel().catch(() => undefined);
  }
}
