import { WaystarError } from './error.js';

const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 5000;

// Throws CANCELLED when the signal is aborted.
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, signal?.aborted ? 0 : ms);
    signal?.addEventListener('abort', wake);
  });
  throwIfAborted(signal);
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new WaystarError('CANCELLED', String(signal.reason));
}

// Yields the messages of one stream after the other. When one ends, and after an error that may pass, it calls
// `onLost` and opens another, after 100 ms at first and up to 5 s later, and not sooner than the server asks. Throws
// other errors.
export async function* reopened<T>(
  open: () => AsyncIterable<T>,
  signal: AbortSignal | undefined,
  onLost: (error?: WaystarError) => void = () => {},
): AsyncGenerator<T> {
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, LAST_DELAY_MS)) {
    let hasMessages = false;
    let lost: WaystarError | undefined;
    try {
      for await (const message of open()) {
        hasMessages = true;
        delay = FIRST_DELAY_MS;
        yield message;
      }
    } catch (error) {
      if (signal?.aborted || !(error instanceof WaystarError)) throw error;
      // A watched map was deleted or replaced: the next stream tells which.
      if (!error.mayPass && !(hasMessages && error.reason === 'MAP_NOT_FOUND')) throw error;
      lost = error;
    }
    onLost(lost);
    await sleep(Math.max(delay, lost?.retryDelayMs ?? 0), signal);
  }
}
