// Subtitles: what is said is put together over cues, translated as a whole, and divided over the cues again.
import type { DocumentOptions, DocumentSentence, DocumentTranslator } from './document.js';
import { inPortions } from './document.js';
import { divideText } from './subtitle-lines.js';
import type { Cue, Dialect, Link, Utterance } from './subtitle-text.js';
import { utterancesOf, writeUtterance } from './subtitle-text.js';

/** A part of a subtitle file: a cue's text, or what stays. */
export type SubtitlePart = Cue | string;

/** Utterances that belong to the same sentences. */
interface Passage {
  utterances: Utterance[];
  text: string;
  /** Where each utterance begins in the text. */
  starts: number[];
}

const longestPassage = 350;
const longestPause = 2500;

/** Translates the cues among the parts of a file, and puts the file together again. */
export async function translateCues(
  translator: DocumentTranslator,
  parts: readonly SubtitlePart[],
  dialect: Dialect,
  options: DocumentOptions,
): Promise<string> {
  const cues = parts.filter((part) => typeof part !== 'string');
  const utterances = cues.flatMap((cue) => utterancesOf(cue, dialect));
  const written = new Map<Utterance, string[]>();
  const work = async (portion: readonly Passage[]) => {
    const text = portion.map((passage) => passage.text).join('\n\n');
    const result = await translator.translate(text, { alignment: true, signal: options.signal });
    const flat = result.text.replace(/\s/g, ' ');
    let start = 0;
    for (const passage of portion) {
      const end = start + passage.text.length;
      const own = result.sentences.filter(({ source }) => source.start >= start && source.end <= end);
      divide(passage, start, own, flat).forEach(({ text: translation, links }, i) => {
        const utterance = passage.utterances[i];
        if (utterance) written.set(utterance, writeUtterance(utterance, translation, links, dialect));
      });
      start = end + 2;
    }
  };
  await inPortions(passagesOf(utterances), ({ text }) => text.length, work, options);

  const linesByCue = new Map<Cue, string[]>();
  for (const utterance of utterances) {
    const lines = written.get(utterance) ?? utterance.lines.map(({ text }) => text);
    const own = linesByCue.get(utterance.cue);
    if (own) for (const line of lines) own.push(line);
    else linesByCue.set(utterance.cue, lines);
  }
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      const { lines } = part;
      const joint = lines[0]?.end ?? '\n';
      const isSame = (linesByCue.get(part) ?? []).join('\n') === lines.map(({ text }) => text).join('\n');
      if (isSame) return lines.map(({ text, end }) => text + end).join('');
      return (linesByCue.get(part) ?? []).join(joint || '\n') + (lines.at(-1)?.end ?? '');
    })
    .join('');
}

function passagesOf(utterances: readonly Utterance[]): Passage[] {
  const passages: Passage[] = [];
  for (const utterance of utterances) {
    if (!utterance.text) continue;
    const last = passages.at(-1);
    const before = last?.utterances.at(-1);
    if (last && before && last.text.length < longestPassage && goesOn(before, utterance)) {
      last.starts.push(last.text.length + 1);
      last.text += ` ${utterance.text}`;
      last.utterances.push(utterance);
    } else passages.push({ utterances: [utterance], text: utterance.text, starts: [0] });
  }
  return passages;
}

/** Whether a sentence goes on in the next utterance. */
function goesOn(before: Utterance, next: Utterance): boolean {
  const pause = next.cue.start - before.cue.end;
  if (before.cue === next.cue || next.prefix || pause < -longestPause || pause > longestPause) return false;
  const isSmall = /^["'“‘«(]?\p{Ll}/u.test(next.text);
  if (/(?:\.\.\.|…)["'”’»]*$/.test(before.text)) return isSmall || /^(?:\.\.\.|…)/.test(next.text);
  if (/[.!?。！？♪♫#\])]["'”’»]*$/.test(before.text) || /^[♪♫#[(]/.test(next.text)) return false;
  // Headings and signs have no full stop; before a small letter, or after a comma, there is none missing.
  return isSmall || /[,;–—-]$/.test(before.text) || /\p{Ll}\P{L}*$/u.test(before.text);
}

/** The translation of a passage, which has no line breaks, divided over its utterances. */
function divide(
  { utterances, text, starts }: Passage,
  offset: number,
  sentences: readonly DocumentSentence[],
  translation: string,
): { text: string; links: Link[] }[] {
  const results = utterances.map((): { text: string; links: Link[] } => ({ text: '', links: [] }));
  const rangeOf = (i: number) =>
    [starts[i] ?? 0, (starts[i] ?? 0) + (utterances[i]?.text.length ?? 0)] as const;
  const overlaps = (from: number, to: number) =>
    utterances.map((_, i) => Math.max(0, Math.min(to, rangeOf(i)[1]) - Math.max(from, rangeOf(i)[0])));

  /** What stands between sentences stays in its utterance. */
  const copy = (from: number, to: number) => {
    overlaps(from, to).forEach((length, i) => {
      const result = results[i];
      const start = Math.max(from, rangeOf(i)[0]);
      if (result && length) result.text += text.slice(start, start + length);
    });
  };
  let done = 0;
  for (const { source, target, alignment = [] } of sentences) {
    const [from, to] = [source.start - offset, source.end - offset];
    const whole = translation.slice(target.start, target.end);
    // What is the same in both languages can also be divided in the same way.
    if (whole === text.slice(from, to)) continue;
    copy(done, from);
    done = to;
    const lengths = overlaps(from, to);
    const involved = lengths.flatMap((length, i) => (length ? [i] : []));
    const pieces = divideText(
      whole,
      involved.map((i) => lengths[i] ?? 0),
    );
    let at = target.start;
    pieces.forEach((piece, k) => {
      const i = involved[k] ?? 0;
      const result = results[i];
      if (!result) return;
      const begin = piece ? translation.indexOf(piece, at) : at;
      const shift = result.text.length - begin;
      at = begin + piece.length;
      result.text += piece;
      for (const link of alignment) {
        if (link.target.start < begin || link.target.end > at) continue;
        const start = link.source.start - offset - (starts[i] ?? 0);
        result.links.push({
          source: [start, start + link.source.end - link.source.start],
          target: [link.target.start + shift, link.target.end + shift],
          weight: link.weight,
        });
      }
    });
  }
  copy(done, text.length);
  return results.map((result) => ({ ...result, text: result.text.trim() }));
}
