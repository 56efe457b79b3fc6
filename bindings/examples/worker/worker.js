// The package inside a worker of the page's own, where the browser's own Translator is not to be had.
import { Translator } from './octavo/index.js';

addEventListener('message', async ({ data: texts }) => {
  try {
    const translator = await Translator.create({ sourceLanguage: 'en', targetLanguage: 'de' });
    postMessage({ translations: await translator.translateBatch(texts) });
    translator.destroy();
  } catch (error) {
    postMessage({ error: error.message });
  }
});
