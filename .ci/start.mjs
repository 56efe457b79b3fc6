// npm start: sets up, builds, serves the page.
import { buildPackage, buildPage, buildWasm } from './build.mjs';
import { serve } from './serve.mjs';
import { setup } from './setup.mjs';
import { main, say } from './shell.mjs';

await main(async () => {
  await setup();
  await buildWasm();
  await buildPackage();
  await buildPage();
  say(`\nOctavo is at ${await serve()} (Ctrl+C ends it)`);
});
