// The lines of a subtitle file: which are said, and which are times, numbers, names and notes.
import type { Line } from './document.js';
import { linesOf } from './document.js';
import type { SubtitlePart } from './subtitles.js';

const time = String.raw`\s*(?:(\d+):)?(\d+):(\d+)(?:[,.](\d{1,3}))?\s*`;
const timing = new RegExp(`^${time}-->${time}`);

/**
 * Takes a file apart. A blank line ends a cue; in a format in which blocks of other kinds exist also its time, so that
 * only a block with a time of its own is a cue.
 */
export function partsOf(text: string, otherBlocks?: RegExp): SubtitlePart[] {
  const lines = linesOf(text);
  const parts: SubtitlePart[] = [];
  let isBlockStart = true;
  let isOther = false;
  let now: { start: number; end: number } | undefined;
  let said: Line[] | undefined;
  lines.forEach((line, i) => {
    const isBlank = !line.text.trim();
    if (isBlockStart && !isBlank && otherBlocks) {
      isOther = otherBlocks.test(line.text);
      now = undefined;
    }
    isBlockStart = isBlank;
    const times = isOther ? null : timing.exec(line.text);
    if (times) now = { start: milliseconds(times.slice(1, 5)), end: milliseconds(times.slice(5)) };
    const isNumber = /^\s*\d+\s*$/.test(line.text) && timing.test(lines[i + 1]?.text ?? '');
    // An arrow is a time, even if it cannot be read.
    if (isBlank || isOther || !now || isNumber || line.text.includes('-->')) {
      parts.push(line.text + line.end);
      said = undefined;
    } else if (said) said.push(line);
    else parts.push({ ...now, lines: (said = [line]) });
  });
  return parts;
}

/** The time of hours, minutes, seconds and the digits after the point. */
function milliseconds([hours = '', minutes, seconds, fraction = '']: readonly (
  string | undefined
)[]): number {
  return (
    1000 * (60 * (60 * Number(hours) + Number(minutes)) + Number(seconds)) + Number(fraction.padEnd(3, '0'))
  );
}
