// Source maps that tell lines, not columns: a stack trace needs no more, and they are a fifth as large.
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The numbers of one segment (base64 digits of five bits, least significant first, the sign in the lowest bit). */
function decode(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = digits.indexOf(character);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return numbers;
}

function encode(number) {
  let value = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = '';
  do {
    const digit = value & 31;
    value >>>= 5;
    text += digits[value > 0 ? digit | 32 : digit];
  } while (value > 0);
  return text;
}

/**
 * Keeps of a source map only the places where another line of the source begins. The sources themselves are not in the
 * package: an address of its own kind keeps tools from looking for them there.
 */
export function thinMap(json) {
  const { version, sources, mappings } = JSON.parse(json);
  // Where we are in the map that is read, and in the one that is written: source, line.
  const from = [0, 0];
  const to = [0, 0];
  const lines = mappings.split(';').map((line) => {
    let column = 0;
    let written = 0;
    let last = '';
    const kept = [];
    for (const segment of line ? line.split(',') : []) {
      const [advance, source, sourceLine] = decode(segment);
      column += advance;
      if (source === undefined) continue;
      from[0] += source;
      from[1] += sourceLine;
      if (from.join() === last) continue;
      last = from.join();
      kept.push([column - written, from[0] - to[0], from[1] - to[1], 0].map(encode).join(''));
      written = column;
      to.splice(0, 2, ...from);
    }
    return kept.join(',');
  });
  return JSON.stringify({
    version,
    sourceRoot: 'octavo:///',
    sources: sources.map((source) => source.replace(/^(\.\.\/)+/, '')),
    names: [],
    mappings: lines.join(';'),
  });
}
