import { fileURLToPath } from 'node:url';

/** The page uses the npm package as it is published, from dist/. */
export default {
  base: './', // works under any path
  resolve: { alias: { octavo: fileURLToPath(new URL('../dist/index.js', import.meta.url)) } },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox128', 'safari18'], // light-dark() stays what it is
    assetsInlineLimit: 0, // the page's security policy knows no data: addresses
    // One style sheet, and no lists of what to load ahead: smaller in all.
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
  },
};
