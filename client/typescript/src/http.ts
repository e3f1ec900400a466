import { type DescMethod, fromJson, type JsonValue, type Message, toJsonString } from '@bufbuild/protobuf';
import { Client, type ClientOptions } from './client.js';
import { ERROR_DETAILS, WaystarError } from './error.js';
import { StatusSchema } from './messages.js';
import { bearer, type CallOptions, isLoopback, pathOf, type Transport } from './transport.js';
import { sleep } from './wait.js';

export * from './index.js';

const FROM_JSON = { registry: ERROR_DETAILS, ignoreUnknownFields: true };
const REPEAT_MS = 100;
// The server sends an empty line after 5 s of silence.
const LONGEST_SILENCE_MS = 15_000;

export interface HttpOptions {
  // Sent with each call. To other machines, only by https.
  token?: string;
}

// Makes a client that speaks JSON over HTTP with http://HOST:PORT or https://HOST:PORT, the server's --http_listen.
export function connect(address: string, options: ClientOptions & HttpOptions = {}): Client {
  return new Client(new HttpTransport(address, options), options);
}

// Uses fetch, with answers that stream.
export class HttpTransport implements Transport {
  readonly hasSeveralServers = false;
  private readonly headers: Record<string, string> = { 'Content-Type': 'application/json' };

  constructor(private readonly address: string, { token }: HttpOptions = {}) {
    const { protocol, host } = new URL(address);
    if (token !== undefined) this.headers['Authorization'] = bearer(token, protocol === 'https:' || isLoopback(host));
  }

  async unary(method: DescMethod, request: Message, options: CallOptions): Promise<Message> {
    const signal = signalOf(options);
    try {
      const response = await this.post(method, toJsonString(method.input, request), { ...options, signal });
      return fromJson(method.output, (await response.json()) as JsonValue, FROM_JSON);
    } catch (error) {
      throw failureOf(error, signal);
    }
  }

  async *stream(method: DescMethod, requests: AsyncIterable<Message>, options: CallOptions): AsyncGenerator<Message> {
    const left = new AbortController();
    const signal = AbortSignal.any([signalOf(options), left.signal]);
    const messages = requests[Symbol.asyncIterator]();
    const sendsMany = method.methodKind !== 'server_streaming';
    try {
      const body = sendsMany ? '' : toJsonString(method.input, (await messages.next()).value);
      const response = await this.post(method, body, { ...options, signal });
      if (sendsMany) {
        const id = response.headers.get('Waystar-Stream') ?? '';
        this.sendAll(method, id, messages, signal).catch((error: unknown) => left.abort(error));
      }
      const onSilence = () => left.abort(new WaystarError('UNAVAILABLE', 'the server is silent'));
      for await (const { result, error } of linesOf(response, onSilence)) {
        if (result !== undefined) yield fromJson(method.output, result, FROM_JSON);
        if (error === undefined) continue;
        const status = fromJson(StatusSchema, error, FROM_JSON);
        if (status.code === 0) return;
        throw WaystarError.of(status);
      }
      throw new WaystarError('UNAVAILABLE', 'the stream was cut off');
    } catch (error) {
      throw failureOf(error, signal);
    } finally {
      left.abort();
      void messages.return?.();
    }
  }

  private async post(method: DescMethod, body: string, { timeoutMs, signal }: CallOptions, more: object = {}) {
    const headers: Record<string, string> = { ...this.headers, ...more };
    if (timeoutMs !== undefined) headers['Waystar-Timeout'] = `${Math.ceil(timeoutMs)}ms`;
    const response = await fetch(this.address + pathOf(method), { method: 'POST', body, signal, headers });
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  // Sends the messages of a stream, each after the one before.
  private async sendAll(method: DescMethod, id: string, messages: AsyncIterator<Message>, signal: AbortSignal) {
    for (let number = 1, isLast = false; !isLast; number++) {
      const { done = false, value } = await messages.next();
      isLast = done;
      const headers = { 'Waystar-Stream': id, 'Waystar-Message': `${number}` };
      const body = done ? '' : toJsonString(method.input, value);
      await this.send(method, body, signal, headers);
    }
  }

  // Repeats a message until the server has it, which takes it once.
  private async send(method: DescMethod, body: string, signal: AbortSignal, headers: object): Promise<void> {
    try {
      await this.post(method, body, { signal }, headers);
    } catch (error) {
      const failure = failureOf(error, signal);
      // The reader gets to know why the stream has ended.
      if (failure.reason === 'STREAM_NOT_FOUND') return;
      if (!failure.isRetryable) throw failure;
      await sleep(failure.retryDelayMs || REPEAT_MS, signal);
      await this.send(method, body, signal, headers);
    }
  }
}

function signalOf({ timeoutMs, signal }: CallOptions): AbortSignal {
  const signals = signal ? [signal] : [];
  if (timeoutMs !== undefined) {
    const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
    // Without a listener, Node's garbage collector may take it before its time.
    timeout.addEventListener('abort', () => {});
    signals.push(timeout);
  }
  return AbortSignal.any(signals);
}

function failureOf(error: unknown, signal: AbortSignal): WaystarError {
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (cause instanceof WaystarError) return cause;
  if (cause instanceof DOMException && cause.name === 'TimeoutError') {
    return new WaystarError('DEADLINE_EXCEEDED', cause.message);
  }
  // Both fetch and the reading of a body throw a TypeError when a connection fails.
  const code = cause instanceof TypeError ? 'UNAVAILABLE' : 'INTERNAL';
  return new WaystarError(signal.aborted ? 'CANCELLED' : code, String(cause));
}

async function errorOf(response: Response): Promise<WaystarError> {
  const text = await response.text();
  if (text.startsWith('{')) return WaystarError.of(fromJson(StatusSchema, JSON.parse(text), FROM_JSON));
  // A proxy answers, which may not reach the server.
  return new WaystarError(response.status >= 502 ? 'UNAVAILABLE' : 'UNKNOWN', `HTTP ${response.status}`);
}

type Line = { result?: JsonValue; error?: JsonValue };

async function* linesOf(response: Response, onSilence: () => void): AsyncGenerator<Line> {
  // Not all browsers iterate over streams.
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ; ) {
    const timer = setTimeout(onSilence, LONGEST_SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() !== '') yield JSON.parse(line);
    }
  }
}
