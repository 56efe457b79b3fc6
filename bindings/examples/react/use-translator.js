'use client';
// A hook that gives a component its translator: created on first use, destroyed with the component.
import { Translator } from 'octavo';
import { useEffect, useState } from 'react';

/** The translator once it is there, how much of its model has been downloaded (0 … 1), and what went wrong, if anything did. */
export function useTranslator(sourceLanguage, targetLanguage) {
  const [state, setState] = useState({ translator: undefined, progress: 0, error: undefined });
  useEffect(() => {
    const controller = new AbortController();
    let created;
    const set = (change) => {
      if (!controller.signal.aborted) setState((before) => ({ ...before, ...change }));
    };
    Translator.create({
      sourceLanguage,
      targetLanguage,
      signal: controller.signal,
      monitor: (monitor) => {
        monitor.addEventListener('downloadprogress', ({ loaded }) => set({ progress: loaded }));
      },
    }).then(
      (translator) => {
        created = translator;
        set({ translator });
      },
      (error) => set({ error }),
    );
    return () => {
      controller.abort();
      created?.destroy();
      setState({ translator: undefined, progress: 0, error: undefined });
    };
  }, [sourceLanguage, targetLanguage]);
  return state;
}
