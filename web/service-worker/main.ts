// Keeps the page itself, so that it opens without a network. Models are kept by the package.
import { clientsClaim } from 'workbox-core';
import { type PrecacheEntry, cleanupOutdatedCaches, precacheAndRoute } from 'workbox-precaching';

/** Filled in when the page is built. */
declare const PAGE_FILES: PrecacheEntry[];

declare const self: ServiceWorkerGlobalScope;

precacheAndRoute(PAGE_FILES, { ignoreURLParametersMatching: [/.*/] });
cleanupOutdatedCaches();
// A first visit works offline without being repeated.
clientsClaim();

// A new version waits until the page, with its reader's consent, asks for it.
self.addEventListener('message', ({ data }) => {
  if (data === 'activate') void self.skipWaiting();
});
