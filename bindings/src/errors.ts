// Errors as the web's own APIs throw them: DOMExceptions that are told apart by name.

/** The names of the errors that this package rejects with, besides `TypeError` and `RangeError` for wrong arguments. */
export type ErrorName =
  | 'AbortError' // stopped by a signal, or by destroy()
  | 'InvalidStateError' // used after destroy()
  | 'NetworkError' // a model could not be downloaded, or is not what was promised
  | 'NotSupportedError' // no model for these languages, or the runtime lacks something
  | 'OperationError' // the engine refused, or its worker crashed
  | 'QuotaExceededError'; // not enough memory for the model

/** Makes an error of the given name; `cause` is what led to it, for those who debug. */
export function failure(name: ErrorName, message: string, cause?: unknown): DOMException {
  const error = new DOMException(message, name);
  if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause, configurable: true });
  return error;
}

/** The message of whatever was thrown; with its cause, for "fetch failed" alone tells nobody anything. */
export function messageOf(thrown: unknown): string {
  const { message, cause } = (thrown ?? {}) as Partial<Error>; // not by instanceof: there may be several kinds of Error, as in frames
  if (typeof message !== 'string') return String(thrown);
  const reason = (cause as Partial<Error> | undefined)?.message;
  return reason ? `${message} (${reason})` : message;
}

/** What a signal was aborted with; an `AbortError` unless the caller chose something else. */
export const reasonOf = (signal: AbortSignal): Error => signal.reason as Error;

/** Rejects as soon as the signal is aborted, whatever the work is waiting for; the work itself goes on unseen. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  work.catch(() => undefined); // when the signal wins, nobody else looks at this one
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(reasonOf(signal));
    };
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (stop) signal.removeEventListener('abort', stop);
  }
}
