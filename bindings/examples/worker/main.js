// The page: hands its texts to a worker and shows what comes back.
const items = [...document.querySelectorAll('li')];
const worker = new Worker('worker.js', { type: 'module' });

worker.onmessage = ({ data: { translations, error } }) => {
  if (error) document.body.append(error);
  else items.forEach((item, i) => (item.textContent = translations[i]));
  document.body.dataset.state = error ? 'failed' : 'done';
  worker.terminate();
};
worker.postMessage(items.map((item) => item.textContent));
