// Where our own files are when a bundler has made a classic script of the package: such scripts have no import.meta.
const { document } = globalThis as { document?: Document }; // which workers do not have

/** The address of that script; undefined in a module, which knows its own address. */
export const scriptAddress = (document?.currentScript as HTMLScriptElement | null | undefined)?.src;
