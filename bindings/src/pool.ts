// A pool of workers that hold the same model. Tasks wait in one queue; a worker that dies is replaced.
import { failure, reasonOf } from './errors.js';
import type { ModelFile } from './models/file.js';
import { type WorkerPort, runtime } from './runtime.js';
import type { LoadedInfo, RawInspection, Reply, SearchOptions, Segment, Stats } from './worker/protocol.js';
import type { Variant } from './variants.js';

/** What a pool is made of. */
export interface PoolOptions {
  model: ModelFile;
  workers: number;
  variant: Variant | undefined;
  /** A kernel's name, or empty for the best one. */
  kernel: string;
}

/** What a worker is asked to do, without the bookkeeping. */
type Work =
  | { type: 'translate'; segments: string[]; options: SearchOptions }
  | { type: 'count'; segments: string[] }
  | { type: 'inspect'; sentence: string; translation: string };
type Answer = Extract<Reply, { type: 'translated' | 'counted' | 'inspected' }>;

interface Task {
  id: number;
  work: Work;
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

/** A worker and what it is doing. */
class Seat {
  port: WorkerPort | undefined;
  state: 'loading' | 'idle' | 'busy' | 'gone' = 'loading';
  task: Task | undefined;
  readonly loaded: Promise<LoadedInfo>;
  resolveLoaded: (info: LoadedInfo) => void = () => undefined;
  rejectLoaded: (error: Error) => void = () => undefined;

  constructor() {
    this.loaded = new Promise((resolve, reject) => {
      this.resolveLoaded = resolve;
      this.rejectLoaded = reject;
    });
    this.loaded.catch(() => undefined);
  }
}

/** Workers, and the tasks that they have or wait for. */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #queue: Task[] = [];
  readonly #seats: Seat[] = [];
  readonly #total: Stats = { milliseconds: 0, tokens: 0, memoryBytes: 0 };
  readonly #memory = new Map<Seat, number>();
  /** Whether a worker has found that the model is none, or not one for this engine. */
  refused = false;
  #destroyed: Error | undefined;
  #lastId = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Starts all workers; resolves when each has its model, rejects if one cannot load it. */
  async start(signal: AbortSignal | undefined): Promise<LoadedInfo> {
    const stop = () => {
      this.destroy(signal && reasonOf(signal));
    };
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      while (this.#seats.length < this.#options.workers) this.#addSeat();
      const [info] = await Promise.all(this.#seats.map(({ loaded }) => loaded));
      if (!info) throw failure('InvalidStateError', 'A pool needs at least one worker.');
      return info;
    } catch (error) {
      this.destroy();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** How many tasks can be worked on at the same time. */
  get size(): number {
    return this.#options.workers;
  }

  /** What all translations so far have taken, and the memory of all workers now. */
  get stats(): Stats {
    return { ...this.#total, memoryBytes: [...this.#memory.values()].reduce((sum, bytes) => sum + bytes, 0) };
  }

  /** Translates segments on the next free worker. */
  async translate(segments: string[], options: SearchOptions, signal?: AbortSignal): Promise<Segment[]> {
    const answer = await this.#run({ type: 'translate', segments, options }, signal);
    return answer.type === 'translated' ? answer.segments : [];
  }

  /** Counts the tokens of segments. */
  async count(segments: string[], signal?: AbortSignal): Promise<number[]> {
    const answer = await this.#run({ type: 'count', segments }, signal);
    return answer.type === 'counted' ? answer.counts : [];
  }

  /** Has one sentence translated, or a translation of it read, under observation. */
  async inspect(sentence: string, translation: string, signal?: AbortSignal): Promise<RawInspection> {
    const answer = await this.#run({ type: 'inspect', sentence, translation }, signal);
    if (answer.type !== 'inspected') throw failure('OperationError', 'The worker did not do what was asked.');
    return answer.inspection;
  }

  /** Ends all workers at once; whatever is pending is rejected. */
  destroy(reason: Error = failure('AbortError', 'The translator was destroyed.')): void {
    this.#destroyed ??= reason;
    for (const seat of this.#seats.splice(0)) {
      this.#close(seat);
      seat.rejectLoaded(reason);
      seat.task?.reject(reason);
    }
    for (const task of this.#queue.splice(0)) task.reject(reason);
  }

  #run(work: Work, signal: AbortSignal | undefined): Promise<Answer> {
    if (this.#destroyed) return Promise.reject(this.#destroyed);
    if (signal?.aborted) return Promise.reject(reasonOf(signal));
    return new Promise((resolve, reject) => {
      const task: Task = { id: ++this.#lastId, work, resolve, reject };
      if (signal) this.#watch(task, signal);
      this.#queue.push(task);
      this.#assign();
    });
  }

  /** Lets the signal take the task out of the queue, or off its worker; the caller is told at once. */
  #watch(task: Task, signal: AbortSignal): void {
    const stop = () => {
      const place = this.#queue.indexOf(task);
      if (place >= 0) this.#queue.splice(place, 1);
      else this.#seats.find((seat) => seat.task === task)?.port?.post({ type: 'cancel', id: task.id });
      task.reject(reasonOf(signal));
    };
    signal.addEventListener('abort', stop, { once: true });
    const { resolve, reject } = task;
    task.resolve = (answer) => {
      signal.removeEventListener('abort', stop);
      resolve(answer);
    };
    task.reject = (error) => {
      signal.removeEventListener('abort', stop);
      reject(error);
    };
  }

  /** Gives waiting tasks to idle workers, and starts workers anew where some are missing. */
  #assign(): void {
    while (this.#queue.length > 0 && this.#seats.length < this.#options.workers) this.#addSeat();
    for (const seat of this.#seats) {
      if (seat.state !== 'idle') continue;
      const task = this.#queue.shift();
      seat.task = task;
      seat.state = task ? 'busy' : 'idle';
      seat.port?.hold(task !== undefined);
      if (task) seat.port?.post({ ...task.work, id: task.id });
    }
  }

  #addSeat(): void {
    const seat = new Seat();
    this.#seats.push(seat);
    const { model, variant, kernel } = this.#options;
    try {
      seat.port = runtime().startWorker({
        reply: (reply) => {
          this.#answer(seat, reply);
        },
        ended: (reason) => {
          this.#lose(seat, failure('OperationError', `The worker has crashed: ${reason}.`));
        },
      });
      seat.port.hold(true);
      seat.port.post({ type: 'load', model: model.handle, variant, kernel });
    } catch (error) {
      // Later, as if the worker had said it: whoever adds a seat need not expect to lose it at once.
      queueMicrotask(() => {
        this.#lose(seat, failure('OperationError', 'A worker could not be started.', error));
      });
    }
  }

  #answer(seat: Seat, reply: Reply): void {
    if (seat.state === 'gone') return;
    switch (reply.type) {
      case 'crashed':
        this.#lose(seat, failure('OperationError', `The worker has crashed: ${reply.reason}.`));
        return;
      case 'refused':
        this.refused ||= !reply.outOfMemory;
        this.#lose(seat, failure(reply.outOfMemory ? 'QuotaExceededError' : 'OperationError', reply.reason));
        return;
      case 'loaded':
        this.#memory.set(seat, reply.info.memoryBytes);
        seat.resolveLoaded(reply.info);
        break;
      case 'failed':
        seat.task?.reject(failure('OperationError', reply.reason));
        break;
      case 'translated':
        this.#total.milliseconds += reply.stats.milliseconds;
        this.#total.tokens += reply.stats.tokens;
        this.#memory.set(seat, reply.stats.memoryBytes);
        seat.task?.resolve(reply);
        break;
      case 'counted':
      case 'inspected':
        seat.task?.resolve(reply);
        break;
      case 'cancelled': // the caller has been told already
    }
    seat.task = undefined;
    seat.state = 'idle';
    seat.port?.hold(false);
    this.#assign();
  }

  /** A worker is gone. Its task fails; tasks that wait get another worker, unless none can be started. */
  #lose(seat: Seat, error: Error): void {
    if (seat.state === 'gone') return;
    const neverLoaded = seat.state === 'loading';
    this.#close(seat);
    this.#seats.splice(this.#seats.indexOf(seat), 1);
    seat.rejectLoaded(error);
    seat.task?.reject(error);
    // A task fails for each failed start: so nothing waits for ever, and the next task may find things better.
    if (neverLoaded) this.#queue.shift()?.reject(error);
    this.#assign();
  }

  #close(seat: Seat): void {
    seat.state = 'gone';
    this.#memory.delete(seat);
    seat.port?.terminate();
  }
}
