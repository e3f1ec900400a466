import type { DescMessage, DescMethodStreaming, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Client } from './client.js';
import type { WaystarError } from './error.js';
import { reopened } from './wait.js';

// A stream that goes on after failures: it is opened again when it is lost.
export abstract class LastingStream<I extends DescMessage, O extends DescMessage> {
  // Why no stream is open or will be: what another one would fail with too, such as a wrong token, or CANCELLED after
  // close. Unset while there is no such error.
  error?: WaystarError;
  private readonly ended = new AbortController();
  // The stream that was opened last.
  private stream?: object;
  // Sends what `next` returns.
  protected wake = () => {};

  constructor(client: Client, method: DescMethodStreaming<I, O>) {
    // After the constructors of subclasses.
    queueMicrotask(() => void this.run(client, method));
  }

  close(): void {
    this.ended.abort('the stream was closed');
  }

  // Prepares the messages with which a new stream begins.
  protected abstract begin(): void;
  // Returns the next message, if there is something to send.
  protected abstract next(): MessageInitShape<I> | undefined;
  protected abstract take(message: MessageShape<O>): void;
  // The stream is lost, for good if there is an `error`.
  protected abstract lose(reason?: WaystarError): void;

  private async run(client: Client, method: DescMethodStreaming<I, O>): Promise<void> {
    const { signal } = this.ended;
    const open = () => client.stream(method, this.messages(), { signal });
    try {
      for await (const message of reopened(open, signal, (reason) => this.lose(reason))) this.take(message);
    } catch (error) {
      this.error = error as WaystarError;
      this.lose(this.error);
    }
  }

  private async *messages(): AsyncGenerator<MessageInitShape<I>> {
    const stream = (this.stream = {});
    // A stream that was lost may still wait: it ends, and takes no message of this one.
    this.wake();
    this.begin();
    while (this.stream === stream) {
      const message = this.next();
      if (message) yield message;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}
