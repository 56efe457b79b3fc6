// What somebody writes who has just installed the package.
import { Translator } from 'octavo';

async function run() {
  const translator = await Translator.create({ sourceLanguage: 'en', targetLanguage: 'de' });
  const translation = await translator.translate('Good morning! The house costs 42 euros.');
  translator.destroy();
  return translation;
}

run().then(
  (translation) => (document.querySelector('output').textContent = translation),
  (error) => (document.querySelector('output').textContent = `${error.name}: ${error.message}`),
);
