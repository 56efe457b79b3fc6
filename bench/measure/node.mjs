// Measures one task in this Node: its name and settings are the arguments, the result is printed as JSON.
import { measure } from './tasks.mjs';

const [task, settings] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(await measure(task, JSON.parse(settings)))}\n`, () => process.exit(0));
