// Writes models/registry.json anew from the models that are there: npm run registry.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble, isMain, main, root, runQuietly, say } from './shell.mjs';

const models = join(root, 'models');

/** What the registry says of one model, read from the file itself. */
function describe(name) {
  const file = `${name}/model.octavo`;
  const bytes = readFileSync(join(models, file));
  const tool = join(root, 'build/native/octavo');
  if (!existsSync(tool)) throw new Trouble('The native tool is not built: run "npm run build" first.');
  const { flavour, description } = JSON.parse(runQuietly(tool, ['inspect', '--json', join(models, file)]));
  const { source, target, card } = description;
  if (!source || !target) throw new Trouble(`${file} does not say which languages it translates.`);
  return {
    source,
    target,
    name,
    file,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    license: card?.license ?? 'CC-BY-SA-4.0',
    ...(flavour === 'int8' ? {} : { flavour }),
  };
}

export function writeRegistry() {
  const names = readdirSync(models)
    .filter((name) => existsSync(join(models, name, 'model.octavo')))
    .sort();
  const registry = { version: 1, models: names.map(describe) };
  writeFileSync(join(models, 'registry.json'), `${JSON.stringify(registry, null, 2)}\n`);
  for (const { name, bytes } of registry.models) say(`   ${name}: ${bytes} bytes`);
}

if (isMain(import.meta)) await main(writeRegistry);
