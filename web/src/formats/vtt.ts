// WebVTT (.vtt): blocks between blank lines, of which only cues are translated.
import type { DocumentOptions, DocumentTranslator } from './document.js';
import { partsOf } from './subtitle-file.js';
import type { Dialect } from './subtitle-text.js';
import { translateCues } from './subtitles.js';

const otherBlocks = /^(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|$)/;
const characters: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: '\u00a0',
  lrm: '\u200e',
  rlm: '\u200f',
};

const dialect: Dialect = {
  tag: /<\/?[A-Za-z][^<>]*>|<\/>|<\d[\d:.]*>/g,
  decode: (text) => text.replace(/&(amp|lt|gt|nbsp|lrm|rlm);/g, (_, name: string) => characters[name] ?? ''),
  encode: (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/-->/g, '--&gt;'),
};

/** Translates WebVTT subtitles. */
export const translateVTT = (
  translator: DocumentTranslator,
  text: string,
  options: DocumentOptions,
): Promise<string> => translateCues(translator, partsOf(text, otherBlocks), dialect, options);
