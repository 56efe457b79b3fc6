// node translate-file.mjs letter.txt: translates a file from English to German and tells which sentences to look at.
import { readFile } from 'node:fs/promises';
import { Translator } from 'octavo';

const text = await readFile(process.argv[2], 'utf8');
const translator = await Translator.create({ sourceLanguage: 'en', targetLanguage: 'de', workers: 2 });
const { text: translation, sentences } = await translator.translate(text, {
  confidence: true,
  glossary: { octavo: 'Octavo' },
});
process.stdout.write(translation);
for (const { source, target, confidence } of sentences) {
  if (confidence > 0.5) continue;
  const [from, to] = [text.slice(source.start, source.end), translation.slice(target.start, target.end)];
  console.error(`${Math.round(confidence * 100)} %: ${from} → ${to}`);
}
translator.destroy();
