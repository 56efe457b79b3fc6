// The engine counts bytes of UTF-8, JavaScript counts code units of UTF-16: from one to the other.

/**
 * Turns byte offsets into a text's UTF-8 form into UTF-16 offsets.
 * The offsets must not decrease; one inside a character is moved to its start, one past the end to the end.
 */
export function utf16Offsets(text: string, byteOffsets: ArrayLike<number>): number[] {
  const offsets: number[] = [];
  let units = 0;
  let bytes = 0;
  for (const wanted of Array.from(byteOffsets)) {
    while (units < text.length && bytes + bytesAt(text, units) <= wanted) {
      bytes += bytesAt(text, units);
      units += unitsAt(text, units);
    }
    offsets.push(units);
  }
  return offsets;
}

const unitsAt = (text: string, i: number) => ((text.codePointAt(i) ?? 0) > 0xffff ? 2 : 1);

/** A lone surrogate counts as U+FFFD, as encoders write it. */
function bytesAt(text: string, i: number): number {
  const code = text.codePointAt(i) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}
