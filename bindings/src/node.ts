// The package in Node.
import { node } from './runtime.node.js';
import { useRuntime } from './runtime.js';

useRuntime(node);

export * from './api.js';
