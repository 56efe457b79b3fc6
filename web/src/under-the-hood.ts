// The panel for the curious. It is loaded when somebody opens it, and fed with what the page does.
import { byId } from './dom.js';
import type { Hood } from './hood/index.js';
import { inEveryLanguage, interfaceLanguage } from './language.js';
import type { Run } from './live.js';
import type { Session } from './session.js';
import type { SourcePane } from './source-pane.js';
import type { TargetPane } from './target-pane.js';

/** Returns what is to be told of each translation. */
export function startHood(
  session: Session,
  source: SourcePane,
  target: TargetPane,
): (run: Run) => Promise<void> {
  const disclosure = byId('hood', HTMLDetailsElement);
  let hood: Hood | undefined;
  let latest: Run | undefined;

  /** The sentence that the reader is at; the last one, if that is not known. */
  const showSentence = () => {
    const caret = source.field.selectionStart;
    const { entries } = target;
    const entry =
      entries.find(({ source: { start, end } }) => start <= caret && caret <= end) ?? entries.at(-1);
    hood?.show(entry?.original ?? '', entry?.text);
  };

  const measure = async ({ sentences, milliseconds }: Run) => {
    const { translator } = session;
    if (!hood || !translator) return;
    // Sentences are translated together: each has taken its share of the time.
    const tokens = await Promise.all(sentences.map((sentence) => translator.measureInputUsage(sentence)));
    const total = tokens.reduce((sum, count) => sum + count, 0);
    for (const count of tokens) hood.measured((milliseconds * count) / total, count);
  };

  const load = async () => {
    const { createHood, hoodStrings } = await import('./hood/index.js');
    hood = createHood(hoodStrings[interfaceLanguage()]);
    byId('hood-panel').replaceChildren(hood.element);
    hood.update(session.translator);
    if (latest) await measure(latest);
    showSentence();
  };

  disclosure.addEventListener('toggle', () => {
    if (disclosure.open && !hood) void load();
  });
  inEveryLanguage(() => {
    if (hood) void load();
  });
  session.addEventListener('change', () => {
    hood?.update(session.translator);
  });
  document.addEventListener('selectionchange', () => {
    if (hood && document.activeElement === source.field) showSentence();
  });

  return async (run) => {
    showSentence();
    if (run.sentences.length === 0) return;
    latest = run;
    await measure(run);
  };
}
