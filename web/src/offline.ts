// The service worker: keeps the page for when there is no network, and brings new versions of it.
import { reload, toastReload } from './announce.js';
import { strings } from './language.js';

export async function startOffline(): Promise<void> {
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined; // absent on insecure addresses
  if (!workers) return;
  let asked = false;
  let { controller } = workers;
  workers.addEventListener('controllerchange', () => {
    if (asked) reload();
    // Another tab has asked: what this page has not loaded yet is gone. At a first visit nothing has been replaced.
    else if (controller) toastReload(strings().update);
    ({ controller } = workers);
  });
  const offer = (waiting: ServiceWorker) => {
    toastReload(strings().update, () => {
      asked = true;
      waiting.postMessage('activate');
    });
  };
  try {
    const registration = await workers.register('./service-worker.js');
    if (registration.waiting) offer(registration.waiting);
    registration.addEventListener('updatefound', () => {
      const { installing } = registration;
      installing?.addEventListener('statechange', () => {
        // Without a controller this is the first visit: nothing has been replaced.
        if (installing.state === 'installed' && workers.controller) offer(installing);
      });
    });
  } catch {
    // The page works without; it just needs the network to open.
  }
}
