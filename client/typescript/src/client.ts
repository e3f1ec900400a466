import * as pb from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { WaystarError } from './error.js';
import { FollowedAgents, type FollowSettings } from './followed_agents.js';
import { MapHandle } from './map_handle.js';
import * as v1 from './messages.js';
import { PathStream } from './path_stream.js';
import { type CallOptions, MAX_TIMEOUT_MS, type Transport } from './transport.js';
import { sleep, throwIfAborted } from './wait.js';

const MAX_OWN_WRITES = 1024;
const CHANGES = ['CreateMap', 'ImportMap', 'UpdateMap', 'StreamUpdates', 'DeleteMap', 'SetLogLevel'];
const MAX_ATTEMPTS = 4;
const FIRST_BACKOFF_MS = 50;
const BACKOFF_FACTOR = 3;
// Retries go on while at least half of the budget is left. A failure takes 1 of it, a success gives back a tenth.
const RETRY_BUDGET = 100;

// `timeoutMs` is that of calls without their own: 5000 if unset. Streams have none, unless one is given.
export type ClientOptions = Pick<CallOptions, 'timeoutMs'>;

// The fields that this file knows of requests, and of answers to changes.
type Known<Message, Names extends keyof Message> = Partial<Pick<Message, Names>>;
type Request = Known<v1.UpdateMapRequest, 'map' | 'requestId' | 'requestTime'> & Known<v1.FindPathRequest, 'view'>;
type Answer = Known<v1.UpdateMapResponse, 'version'> & Known<v1.CreateMapResponse, 'info'>;

// A client of one server, or of several with the same maps. Its calls throw WaystarErrors.
//
// Read-only calls, and changes with a request_id, are retried while the server is unavailable or too busy: four times
// at most, within the timeout, and not while most calls fail. With several servers, calls that change something fail
// with FAILED_PRECONDITION: make them at each server by a client of its own, or behind one name in a fleet.
//
// Queries see the client's own changes: they ask for the version made by its last change of the map, unless they have
// a view.leastVersion, if only an empty one. Streams do not.
export class Client {
  readonly timeoutMs: number;
  private readonly closed = new AbortController();
  // The map that was changed last is the last.
  private readonly ownWrites = new Map<string, v1.Version>();
  private retryBudget = RETRY_BUDGET;

  constructor(private readonly transport: Transport, { timeoutMs = 5000 }: ClientOptions = {}) {
    this.timeoutMs = timeoutMs;
  }

  map(id: string): MapHandle {
    return new MapHandle(this, id);
  }

  // Makes a map of squares from rows of text, such as '..#.'.
  async createMap(id: string, rows: string[], options?: CallOptions): Promise<MapHandle> {
    await this.call(v1.MapService.method.createMap, { map: id, rows, requestId: newRequestId() }, options);
    return this.map(id);
  }

  // Answers queries over one stream, for a fraction of the work of calls.
  pathStream(): PathStream {
    return new PathStream(this);
  }

  followAgents(settings?: FollowSettings): FollowedAgents {
    return new FollowedAgents(this, settings);
  }

  // Makes any call: client.call(PathService.method.castRay, { map: 'arena', ... }).
  async call<I extends pb.DescMessage, O extends pb.DescMessage>(
    method: pb.DescMethodUnary<I, O>,
    init: pb.MessageInitShape<I>,
    { timeoutMs = this.timeoutMs, signal }: CallOptions = {},
  ): Promise<pb.MessageShape<O>> {
    const timeout = Math.min(timeoutMs, MAX_TIMEOUT_MS);
    const deadline = performance.now() + timeout;
    const request = { ...pb.create(method.input, init) } as pb.MessageShape<I> & Request;
    const { map = '', view, requestId } = request;
    if (requestId && method.name === 'UpdateMap') request.requestTime ??= timestampNow();
    const isQuery = method.parent.typeName === v1.PathService.typeName;
    const least = isQuery && !view?.leastVersion ? this.ownWrites.get(map) : undefined;
    if (least) request.view = { ...pb.create(v1.ViewSchema), ...view, leastVersion: least };
    try {
      const isRepeatable = Boolean(requestId) || !CHANGES.includes(method.name);
      const attempt = async (left: number) => {
        this.check(method, signal);
        return await this.transport.unary(method, request, { timeoutMs: left, signal });
      };
      const answer = await (isRepeatable ? this.retry(attempt, deadline, signal) : attempt(timeout));
      const { version, info } = answer as Answer;
      const latest = version ?? info?.version;
      if (method.name === 'DeleteMap') this.ownWrites.delete(map);
      else if (latest && CHANGES.includes(method.name)) this.noteChange(map, latest);
      return answer as pb.MessageShape<O>;
    } catch (error) {
      if (!least || !(error instanceof WaystarError) || error.reason !== 'MAP_REPLACED') throw error;
      if (this.ownWrites.get(map) === least) this.ownWrites.delete(map);
      return await this.call(method, init, { timeoutMs: Math.max(deadline - performance.now(), 1), signal });
    }
  }

  // Opens any stream: client.stream(MapService.method.exportMap, [{ map: 'arena' }]). It ends when its reader leaves,
  // and is not retried.
  stream<I extends pb.DescMessage, O extends pb.DescMessage>(
    method: pb.DescMethodStreaming<I, O>,
    requests: Iterable<pb.MessageInitShape<I>> | AsyncIterable<pb.MessageInitShape<I>>,
    { signal, ...options }: CallOptions = {},
  ): AsyncIterable<pb.MessageShape<O>> {
    this.check(method, signal);
    async function* messages() {
      for await (const init of requests) yield pb.create(method.input, init);
    }
    const either = AbortSignal.any([this.closed.signal, ...(signal ? [signal] : [])]);
    const answers = this.transport.stream(method, messages(), { ...options, signal: either });
    return answers as AsyncIterable<pb.MessageShape<O>>;
  }

  // Makes later queries see a change by another client.
  noteChange(map: string, version: v1.Version): void {
    const known = this.ownWrites.get(map);
    const isOlder = known?.epoch === version.epoch && known.revision > version.revision;
    this.ownWrites.delete(map);
    this.ownWrites.set(map, isOlder ? known : version);
    const [oldest = ''] = this.ownWrites.keys();
    if (this.ownWrites.size > MAX_OWN_WRITES) this.ownWrites.delete(oldest);
  }

  // Ends all streams.
  close(): void {
    this.closed.abort('the client was closed');
    this.transport.close?.();
  }

  private check({ name }: pb.DescMethod, signal: AbortSignal | undefined): void {
    throwIfAborted(signal);
    if (this.closed.signal.aborted) throw new WaystarError('FAILED_PRECONDITION', 'the client was closed');
    if (this.transport.hasSeveralServers && CHANGES.includes(name)) {
      throw new WaystarError('FAILED_PRECONDITION', 'a change would reach only one of several servers');
    }
  }

  private async retry<T>(call: (left: number) => Promise<T>, deadline: number, signal?: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await call(deadline - performance.now());
        this.retryBudget = Math.min(this.retryBudget + 0.1, RETRY_BUDGET);
        return answer;
      } catch (error) {
        if (!(error instanceof WaystarError) || !error.isRetryable || signal?.aborted) throw error;
        this.retryBudget = Math.max(this.retryBudget - 1, 0);
        // Never sooner than the server asks; what many clients do at once is spread over half as much again.
        const backoff = FIRST_BACKOFF_MS * BACKOFF_FACTOR ** (attempt - 1);
        const delay = (error.retryDelayMs * attempt || backoff) * (1 + Math.random() / 2);
        const isLate = performance.now() + delay >= deadline;
        if (isLate || attempt === MAX_ATTEMPTS || this.retryBudget < RETRY_BUDGET / 2) throw error;
        await sleep(delay, signal);
      }
    }
  }
}

// Pages in plain text have no crypto.randomUUID.
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
