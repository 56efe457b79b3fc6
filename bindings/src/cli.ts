#!/usr/bin/env node
// The command: octavo "How are you?" --to de
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { copyAssets } from './assets.node.js';
import { messageOf } from './errors.js';
import { type CreateMonitor, ModelStore, Translator } from './node.js';

const usage = `Translates text on this machine.

  octavo "How are you?" --to de        translates its arguments
  octavo --to de < letter.txt          translates standard input
  octavo --to de -i letter.txt         translates a file; may be given several times

      --from <language>    of the text (en, unless a --model says otherwise)
      --to <language>      of the translation; a --model may say it
  -i, --input <file>       a file to translate; - is standard input
  -o, --output <file>      where the translation goes, instead of standard output
      --html               the text is HTML; its markup is kept
      --json               one JSON object per text: sentences, offsets, confidence, alternatives
      --alternatives <n>   with --json: translations per sentence
      --beam <n>           hypotheses per sentence; more are slower and somewhat better
      --workers <n>        how many threads translate
      --model <file>       a model of your own: a path or an address
      --registry <file>    where models are listed: a path or an address
      --list               lists the models that there are
      --delete <id>        deletes a downloaded model
      --copy <directory>   copies worker, WebAssembly and models to where a page's scripts are, for bundlers
                           that do not do it themselves (esbuild, Rollup)
  -q, --quiet              no progress bar
  -v, --version
  -h, --help
`;

/** Something that the user can put right, told without a stack. */
class UsageError extends Error {}

const parse = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      input: { type: 'string', short: 'i', multiple: true },
      output: { type: 'string', short: 'o' },
      html: { type: 'boolean' },
      json: { type: 'boolean' },
      alternatives: { type: 'string' },
      beam: { type: 'string' },
      workers: { type: 'string' },
      model: { type: 'string' },
      registry: { type: 'string' },
      list: { type: 'boolean' },
      delete: { type: 'string' },
      copy: { type: 'string' },
      quiet: { type: 'boolean', short: 'q' },
      version: { type: 'boolean', short: 'v' },
      help: { type: 'boolean', short: 'h' },
    },
  });

type Flags = ReturnType<typeof parse>['values'];

async function main(): Promise<void> {
  let parsed;
  try {
    parsed = parse();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { values: flags, positionals } = parsed;
  if (flags.help) await write(usage);
  else if (flags.version) await write(`${await version()}\n`);
  else if (flags.list) await list(flags);
  else if (flags.delete !== undefined) await remove(flags, flags.delete);
  else if (flags.copy !== undefined) await copyAssets(flags.copy);
  else await translate(flags, positionals);
}

async function translate(flags: Flags, positionals: string[]): Promise<void> {
  const { to, model } = flags;
  if (to === undefined && model === undefined)
    throw new UsageError('Which language? Say for example --to de.');
  if (positionals.length === 0 && !flags.input && process.stdin.isTTY)
    throw new UsageError('There is nothing to translate.');
  const asked = {
    beam: number('beam', flags.beam),
    alternatives: number('alternatives', flags.alternatives),
  };
  // Before the download, which would be in vain if a file is missing. An argument has no end of line of its own.
  const texts = positionals.length > 0 ? [{ text: positionals.join(' '), end: '\n' }] : [];
  for (const file of flags.input ?? (texts.length > 0 ? [] : ['-'])) {
    const text = await readAll(file === '-' ? process.stdin : createReadStream(file)).catch(
      (error: unknown) => {
        throw new UsageError(`${file} cannot be read: ${messageOf(error)}.`);
      },
    );
    texts.push({ text, end: '' });
  }
  const from = flags.from ?? (model === undefined ? 'en' : undefined);
  const translator = await Translator.create({
    ...(from === undefined ? {} : { sourceLanguage: from }),
    ...(to === undefined ? {} : { targetLanguage: to }),
    model,
    registry: flags.registry,
    workers: number('workers', flags.workers),
    monitor: flags.quiet || !process.stderr.isTTY ? undefined : showProgress,
  });
  try {
    const output: string[] = [];
    const print = async (text: string) => {
      if (flags.output === undefined) await write(text);
      else output.push(text);
    };
    for (const { text, end } of texts) {
      await translateOne(translator, text, flags, asked, print);
      if (end && !flags.json) await print(end);
    }
    if (flags.output !== undefined) await writeFile(flags.output, output.join(''));
  } finally {
    translator.destroy();
  }
}

async function translateOne(
  translator: Translator,
  text: string,
  flags: Flags,
  { beam, alternatives }: Record<'beam' | 'alternatives', number | undefined>,
  print: (text: string) => Promise<void>,
): Promise<void> {
  if (flags.html) {
    const html = await translator.translateHTML(text, { beam });
    await print(flags.json ? `${JSON.stringify({ source: text, text: html })}\n` : html);
  } else if (flags.json) {
    const options = { beam, confidence: true as const, alternatives };
    await print(`${JSON.stringify({ source: text, ...(await translator.translate(text, options)) })}\n`);
  } else {
    const reader = translator.translateStreaming(text, { beam }).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) await print(next.value);
  }
}

async function list(flags: Flags): Promise<void> {
  const store = new ModelStore({ registry: flags.registry });
  const stored = await store.list();
  const offered = await store.offered().catch((error: unknown) => {
    if (stored.length === 0) throw error;
    return [];
  });
  const models = [
    ...offered.map((model) => ({
      ...model,
      downloaded: stored.some(({ sha256 }) => sha256 === model.sha256),
    })),
    ...stored
      .filter(({ sha256 }) => !offered.some((model) => model.sha256 === sha256))
      .map(({ sourceLanguage: source, targetLanguage: target, ...model }) => ({
        ...model,
        source,
        target,
        downloaded: true,
      })),
  ].map((model) => ({ ...model, id: stored.find(({ sha256 }) => sha256 === model.sha256)?.id }));
  if (flags.json) {
    await write(`${JSON.stringify(models, null, 2)}\n`);
    return;
  }
  for (const { name, source = '?', target = '?', bytes, license, downloaded, id } of models) {
    const size = `${(bytes / 1e6).toFixed(1)} MB`;
    await write(
      `${source} → ${target}  ${name}  ${size}  ${license ?? ''}${downloaded ? `  downloaded: ${id ?? ''}` : ''}\n`,
    );
  }
  if (models.length === 0) await write('There are no models.\n');
}

async function remove(flags: Flags, id: string): Promise<void> {
  const found = await new ModelStore({ registry: flags.registry }).delete(id);
  if (!found) throw new UsageError(`There is no downloaded model ${id}; --list shows them.`);
}

function number(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(value)) throw new UsageError(`--${name} must be a whole number, not ${value}.`);
  return Number(value);
}

function showProgress(monitor: CreateMonitor): void {
  monitor.addEventListener('downloadprogress', ({ loaded, loadedBytes, totalBytes }) => {
    if (totalBytes === 0) return;
    const width = 30;
    const done = Math.round(width * loaded);
    const bar = `${'█'.repeat(done)}${'░'.repeat(width - done)}`;
    const size = `${(loadedBytes / 1e6).toFixed(1)} of ${(totalBytes / 1e6).toFixed(1)} MB`;
    process.stderr.write(`\rDownloading the model ${bar} ${size}${loaded === 1 ? '\n' : ''}`);
  });
}

/** Waits until the text is really out: a pipe may be slower than we are. */
const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });

async function version(): Promise<string> {
  const manifest = await readFile(new URL('./package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads us has seen enough, as `head` does.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

main().catch((error: unknown) => {
  process.stderr.write(`octavo: ${messageOf(error)}\n`);
  if (error instanceof UsageError) process.stderr.write('octavo --help tells more.\n');
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
