// Original and translation light up together: sentence by sentence and word by word, for pointer and keyboard.
import { byId } from './dom.js';
import type { Passage } from './highlight.js';
import type { SourcePane } from './source-pane.js';
import type { Entry, TargetPane } from './target-pane.js';

// Of what a word comes from, only what matters is shown: not much weaker than the strongest link.
const matters = 0.4;

const within = ({ start, end }: Passage, offset: number) => start <= offset && offset < end;

function strongest<Link extends { weight: number }>(links: readonly Link[]): Link[] {
  const most = Math.max(...links.map(({ weight }) => weight));
  return links.filter(({ weight }) => weight >= matters * most);
}

/** Whole words instead of the pieces of words that the engine knows. */
function wholeWords(text: string, { start, end }: Passage): Passage {
  const isWord = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{M}\p{N}]/u.test(character);
  while (start < end && !isWord(text[start]) && isWord(text[end - 1])) ++start;
  while (end > start && !isWord(text[end - 1]) && isWord(text[start])) --end;
  if (isWord(text[start])) while (isWord(text[start - 1])) --start;
  if (isWord(text[end - 1])) while (isWord(text[end])) ++end;
  return { start, end };
}

/** The word of a translated sentence at this place, if it is known where it comes from. */
export function wordAt({ links, text }: Entry, offset: number): Passage | undefined {
  const linked = links.find(({ target }) => within(target, offset))?.target;
  if (linked) return linked;
  const found = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text).containing(offset);
  return found?.isWordLike ? { start: found.index, end: found.index + found.segment.length } : undefined;
}

/** The words of a sentence, in order and each once. */
const wordsOf = ({ links }: Entry): Passage[] =>
  links
    .map(({ target }) => target)
    .filter(({ start }, i, all) => all.findIndex((other) => other.start === start) === i)
    .sort((a, b) => a.start - b.start);

export function linkPanes(source: SourcePane, target: TargetPane): void {
  /** What the original has at the place of the sentence is still that sentence: it may be being edited. */
  const isCurrent = (entry: Entry) =>
    source.text.slice(entry.source.start, entry.source.end) === entry.original;

  const putOut = () => {
    target.light(undefined);
    source.light(undefined);
  };

  const lightWord = (index: number, word: Passage | undefined) => {
    const entry = target.entries[index];
    if (!entry || !isCurrent(entry)) {
      putOut();
      return;
    }
    const links = strongest(entry.links.filter((link) => link.target.start === word?.start));
    target.light(index, word ? [word] : []);
    source.light(
      entry.source,
      links.map((link) => wholeWords(source.text, link.source)),
    );
  };

  const menu = byId('alternatives');
  const leave = () => {
    if (!menu.matches(':popover-open')) putOut(); // what its entries are about stays lit
  };

  target.onPoint = (place) => {
    const { index = -1, offset } = place ?? {};
    const entry = target.entries[index];
    if (entry) lightWord(index, offset === undefined ? undefined : wordAt(entry, offset));
    else leave();
  };

  source.onPoint = (offset) => {
    const index =
      offset === undefined ? -1 : target.entries.findIndex((entry) => offsetIn(entry.source, offset));
    const entry = target.entries[index];
    if (offset === undefined || !entry || !isCurrent(entry)) {
      leave();
      return;
    }
    const links = entry.links.filter((link) => within(link.source, offset));
    const near = strongest(links);
    target.light(
      index,
      near.map((link) => link.target),
    );
    source.light(
      entry.source,
      near.map((link) => wholeWords(source.text, link.source)),
    );
  };

  let word = -1; // within the sentence that has the focus
  target.element.addEventListener('focusin', () => {
    word = -1;
  });
  target.element.addEventListener('keydown', (event) => {
    const index = target.focused;
    const entry = target.entries[index];
    if (!entry || event.ctrlKey || event.metaKey || event.altKey) return;
    const words = wordsOf(entry);
    const step = (by: number) => {
      word = Math.min(words.length, Math.max(-1, word + by));
      if (word === words.length) {
        if (!target.focus(index + 1)) word = words.length - 1;
      } else lightWord(index, words[word]);
    };
    const open = () => {
      target.onOpen(index, words[word]?.start);
    };
    const actions: Record<string, () => void> = {
      ArrowRight: () => {
        step(1);
      },
      ArrowLeft: () => {
        if (word < 0) target.focus(index - 1);
        else step(-1);
      },
      ArrowDown: () => target.focus(index + 1),
      ArrowUp: () => target.focus(index - 1),
      Home: () => target.focus(0),
      End: () => target.focus(target.entries.length - 1),
      Enter: open,
      ' ': open,
      Escape: () => {
        source.field.focus();
      },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** A caret behind the last character still belongs to the sentence. */
const offsetIn = ({ start, end }: Passage, offset: number) => start <= offset && offset <= end;
