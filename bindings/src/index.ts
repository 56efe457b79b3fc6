// The package in browsers: pages, workers, service workers.
import { browser } from './runtime.browser.js';
import { useRuntime } from './runtime.js';

useRuntime(browser);

export * from './api.js';
