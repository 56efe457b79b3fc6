// Progress of a download, as the web's own API reports it, and in bytes.

/** How far a download is. */
export class DownloadProgressEvent extends Event {
  /** From 0 to 1. */
  readonly loaded: number;
  /** What `loaded` will be in the end. */
  readonly total = 1;
  /** Always true: `loaded` is a share, not a number of bytes. */
  readonly lengthComputable = true;
  /** Bytes that have arrived; 0 if nothing had to be downloaded. */
  readonly loadedBytes: number;
  /** Bytes that the download has in all; 0 if nothing had to be downloaded, or if the server does not tell. */
  readonly totalBytes: number;

  constructor(loaded: number, loadedBytes: number, totalBytes: number) {
    super('downloadprogress');
    this.loaded = loaded;
    this.loadedBytes = loadedBytes;
    this.totalBytes = totalBytes;
  }
}

/** What `create` gives to its `monitor`: fires `downloadprogress` events, at least one with 0 and one with 1. */
export interface CreateMonitor extends EventTarget {
  /** A listener for `downloadprogress` events. */
  ondownloadprogress: ((event: DownloadProgressEvent) => void) | null;
  addEventListener(
    type: 'downloadprogress',
    listener: ((event: DownloadProgressEvent) => void) | { handleEvent(event: DownloadProgressEvent): void },
    options?: AddEventListenerOptions | boolean,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
}

// The web's API rounds so, lest it be told apart which bytes arrive when; it also keeps events few.
const steps = 0x10000;

/** The monitor, and the means to fire its events. */
export class ProgressReporter {
  readonly #target: CreateMonitor = new EventTarget() as CreateMonitor;
  readonly #signal: AbortSignal | undefined;
  #loaded = -1;
  #bytes: [loaded: number, total: number] = [0, 0];

  /** After an abort by the signal no more events are fired. */
  constructor(monitor: ((monitor: CreateMonitor) => void) | undefined, signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#target.ondownloadprogress = null;
    this.#target.addEventListener('downloadprogress', (event) => this.#target.ondownloadprogress?.(event));
    monitor?.(this.#target);
  }

  /** Bytes have arrived. The first report is always 0; 1 is left to `finish`. */
  report(loadedBytes: number, totalBytes: number): void {
    this.#bytes = [loadedBytes, totalBytes];
    this.#fire(0);
    // Numbers never go back, even if a download has to begin again.
    if (totalBytes > 0 && loadedBytes < totalBytes)
      this.#fire(Math.floor((loadedBytes / totalBytes) * steps) / steps);
  }

  /** The model is there; what remains is to load it. */
  finish(): void {
    this.#fire(0);
    this.#fire(1);
  }

  #fire(loaded: number): void {
    if (loaded <= this.#loaded || this.#signal?.aborted) return;
    this.#loaded = loaded;
    this.#target.dispatchEvent(new DownloadProgressEvent(loaded, ...this.#bytes));
  }
}
