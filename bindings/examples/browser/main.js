// Translation in a plain page: no bundler, only the package's files beside it, in octavo/.
import { Translator } from './octavo/index.js';

const form = document.querySelector('form');
const output = document.querySelector('output');
const progress = document.querySelector('progress');
let translator; // created when it is first needed: that is when the model is downloaded

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    translator ??= await Translator.create({
      sourceLanguage: 'en',
      targetLanguage: 'de',
      monitor: (monitor) => {
        monitor.addEventListener('downloadprogress', ({ loaded }) => {
          progress.hidden = loaded === 1;
          progress.value = loaded;
        });
      },
    });
    output.textContent = '';
    const stream = translator.translateStreaming(new FormData(form).get('text'));
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) output.append(next.value);
  } catch (error) {
    output.textContent = error.message;
  }
});
