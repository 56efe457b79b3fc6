// The service worker: keeps the page for when there is no network, and brings new versions of it.
import { toast } from './announce.js';
import { strings } from './language.js';

export async function startOffline(): Promise<void> {
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined; // absent on insecure addresses
  if (!workers) return;
  let asked = false;
  workers.addEventListener('controllerchange', () => {
    if (asked) location.reload();
  });
  const offer = (waiting: ServiceWorker) => {
    const run = () => {
      asked = true;
      waiting.postMessage('activate');
    };
    toast(strings().update, { label: strings().reload, run });
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
