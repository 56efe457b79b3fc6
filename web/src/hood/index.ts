// "Under the hood": the engine at work, and what its integers did to the current sentence.
import type { Inspection, Translator } from 'octavo';
import './hood.css';
import { createAttentionMap } from './attention.js';
import { make } from '../dom.js';
import { createMeters } from './meters.js';
import { createScaleView } from './scales.js';
import { type HoodStrings, fill } from './strings.js';

export { type HoodStrings, hoodStrings } from './strings.js';

/** The panel. */
export interface Hood {
  readonly element: HTMLElement;
  /** Tells which translator is in use, and that its numbers may have changed. */
  update(translator: Translator | undefined): void;
  /** Looks into a translation of a sentence, the greedy one if none is given, as soon as the panel can be seen. */
  show(sentence: string, translation?: string): void;
  /** Notes how long a sentence has taken. */
  measured(milliseconds: number, tokens: number): void;
}

// Somebody who types wants a translation first.
const pause = 250;

/** Makes the panel in one language. */
export function createHood(strings: HoodStrings): Hood {
  const meters = createMeters(strings);
  const attention = createAttentionMap(strings);
  const scales = createScaleView(strings);
  const message = make('p', { class: 'hood-message', role: 'status' }, strings.noModel);
  const inside = make('div', { hidden: true }, attention.element, scales.element);
  const element = make('div', { class: 'hood' }, meters.element, message, inside);

  let translator: Translator | undefined;
  let sentence = '';
  let translation = '';
  let shown = '';
  let visible = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let work: AbortController | undefined;
  let frame: number | undefined;

  const say = (text: string) => {
    message.textContent = text;
    message.hidden = !text;
  };

  /** What is to be looked into, as one string: a line cannot be part of a sentence. */
  const subject = () => `${sentence}\n${translation}`;

  const draw = (inspection: Inspection) => {
    const { width } = (translator?.engine.model.shape ?? {}) as { width?: number };
    inside.hidden = false;
    say('');
    attention.show(inspection);
    scales.show(inspection, width ?? 0);
  };

  const inspect = async () => {
    const wanted = subject();
    work = new AbortController();
    try {
      const inspection = await translator?.inspect(sentence, { translation, signal: work.signal });
      if (!inspection) return;
      shown = wanted;
      draw(inspection);
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return;
      inside.hidden = true;
      say(fill(strings.failed, { reason: error instanceof Error ? error.message : String(error) }));
    }
  };

  const plan = () => {
    clearTimeout(timer);
    work?.abort();
    if (!translator) say(strings.noModel);
    else if (!sentence) say(inside.hidden ? strings.waiting : '');
    else if (visible && subject() !== shown) timer = setTimeout(() => void inspect(), pause);
  };

  new IntersectionObserver((entries) => {
    visible = entries.some(({ isIntersecting }) => isIntersecting);
    plan();
  }).observe(element);

  return {
    element,
    update(next) {
      if (next !== translator) shown = '';
      translator = next;
      meters.update(next?.engine);
      if (!next) inside.hidden = true;
      plan();
    },
    show(next, itsTranslation = '') {
      const before = subject();
      sentence = next.trim();
      translation = itsTranslation.trim();
      if (subject() !== before) plan();
    },
    measured(milliseconds, tokens) {
      meters.measured(milliseconds, tokens);
      // A long text brings many numbers at once; they are drawn together.
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        meters.update(translator?.engine);
      });
    },
  };
}
