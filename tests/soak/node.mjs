// The soak in one Node process. Started by run.mjs, with --expose-gc; prints its results as JSON on the last line.
import { syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import workerThreads from 'node:worker_threads';
import { soak } from './phases.mjs';

const workers = new Set();
const { Worker } = workerThreads;
workerThreads.Worker = class extends Worker {
  constructor(...args) {
    super(...args);
    workers.add(this);
    this.on('exit', () => workers.delete(this));
  }
};
syncBuiltinESMExports(); // the package, loaded from here on, gets workers that can be killed

const { Translator } = await import('../../dist/node.js');
const model = fileURLToPath(new URL('../../models/en-de/model.octavo', import.meta.url));
const runtime = {
  create: (count) => Translator.create({ model, workers: count }),
  kill: (share) => [...workers][Math.floor(share * workers.size)]?.terminate(),
  workers: () => workers.size,
  memory: () => {
    globalThis.gc?.();
    return Promise.resolve(process.memoryUsage().rss);
  },
  say: (line) => console.log(`   ${line}`),
};
console.log(JSON.stringify(await soak(runtime, JSON.parse(process.argv[2]))));
