// SubRip (.srt): numbered cues, each with its time in a line of its own.
import type { DocumentOptions, DocumentTranslator } from './document.js';
import { partsOf } from './subtitle-file.js';
import type { Dialect } from './subtitle-text.js';
import { translateCues } from './subtitles.js';

const dialect: Dialect = {
  tag: /<\/?(?:[bius]|font|em|strong|span|c|ruby|rt|lang)\b[^<>]*>|\{\\[^{}]*\}|\{\/?[A-Za-z](?::[^{}]*)?\}/gi,
  decode: (text) => text,
  encode: (text) => text.replace(/-->/g, '->'),
};

/** Translates SubRip subtitles. */
export const translateSRT = (
  translator: DocumentTranslator,
  text: string,
  options: DocumentOptions,
): Promise<string> => translateCues(translator, partsOf(text), dialect, options);
