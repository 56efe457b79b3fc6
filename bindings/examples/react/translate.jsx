'use client';
// A field to write into, and its translation below, sentence by sentence.
import { useEffect, useState } from 'react';
import { useTranslator } from './use-translator.js';

export function Translate({ initial = '' }) {
  const { translator, progress, error } = useTranslator('en', 'de');
  const [text, setText] = useState(initial);
  const [translation, setTranslation] = useState('');

  useEffect(() => {
    if (!translator) return undefined;
    const controller = new AbortController(); // what is typed next makes this translation worthless
    const run = async () => {
      let written = '';
      const reader = translator.translateStreaming(text, { signal: controller.signal }).getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        written += next.value;
        setTranslation(written);
      }
    };
    run().catch((reason) => {
      if (!controller.signal.aborted) setTranslation(String(reason));
    });
    return () => controller.abort();
  }, [translator, text]);

  return (
    <section>
      <textarea value={text} onChange={(event) => setText(event.target.value)} />
      {!translator && !error && <progress value={progress} />}
      <output>{error ? error.message : translation}</output>
    </section>
  );
}
