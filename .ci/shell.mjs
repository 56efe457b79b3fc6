// What every script here needs: where things are, running a command, and speaking to the user.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'octavo', 'toolchain');

/** The user's fault or the machine's, in one sentence that names the remedy; shown without a stack. */
export class Trouble extends Error {}

/** A command as it is named in a message. */
const shown = (command, args) =>
  `"${[basename(command), ...args.slice(0, 4), ...(args.length > 4 ? ['…'] : [])].join(' ')}"`;

/** Runs a command, its output going to the terminal; trouble if it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (result.error) throw new Trouble(`${command} cannot be started (${result.error.code}).`);
  if (result.status !== 0) {
    const output = `${result.stdout ?? ''}${result.stderr ?? ''}`.trim();
    if (output) say(output.split('\n').slice(-40).join('\n'));
    throw new Trouble(`${shown(command, args)} failed (${result.signal ?? `status ${result.status}`}).`);
  }
  return result;
}

/** The same, while other things go on. */
export const runAside = (command, args, options = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
    child.on('error', ({ code }) => reject(new Trouble(`${command} cannot be started (${code}).`)));
    child.on('exit', (status, signal) => {
      if (status === 0) resolve();
      else reject(new Trouble(`${shown(command, args)} failed (${signal ?? `status ${status}`}).`));
    });
  });

/** Runs a command and returns its output, which is shown only if it fails. */
export const runQuietly = (command, args, options = {}) =>
  run(command, args, { stdio: 'pipe', encoding: 'utf8', maxBuffer: 1 << 28, ...options }).stdout;

/** Runs a program that an npm package brought. */
export const runNpm = (program, args) => run(join(root, 'node_modules/.bin', program), args);

/** The full path of a program on PATH, or undefined. */
export const which = (program) =>
  process.env.PATH.split(delimiter)
    .map((directory) => join(directory, program))
    .find(existsSync);

/** Says something to the user; lines of detail begin with three spaces. */
export const say = (text) => console.log(text);

/** Does one named piece of work and says how long it took. */
export async function step(title, work) {
  say(`\n── ${title}`);
  const start = performance.now();
  const result = await work();
  say(`   ${title}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

/** Whether a module is the script that was started, rather than imported. */
export const isMain = (meta) => realpathSync(process.argv[1]) === fileURLToPath(meta.url);

/** Runs a script's main function; trouble ends it with its one sentence. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(`\n✗ ${error instanceof Trouble ? error.message : error.stack}`);
    process.exitCode = 1;
  }
}
