import { create } from '@bufbuild/protobuf';
import type { Client } from './client.js';
import { WaystarError } from './error.js';
import { LastingStream } from './lasting_stream.js';
import { query, type QueryFields } from './map_handle.js';
import * as v1 from './messages.js';
import type { Goals, Place } from './places.js';
import { MAX_TIMEOUT_MS } from './transport.js';

const MAX_QUERIES = 1000;
const MAX_ATTEMPTS = 4;

type Asks = typeof v1.StreamFindPathRequestSchema;
type Tells = typeof v1.StreamFindPathResponseSchema;
type Options = QueryFields & { timeoutMs?: number };

interface Pending {
  query: v1.StreamedQuery;
  attempts: number;
  settle(result: v1.FindPathResponse | WaystarError): void;
}

// Queries over one stream, which share messages. When it is lost, unanswered queries are sent again: four times in all.
export class PathStream extends LastingStream<Asks, Tells> {
  private readonly pending = new Map<bigint, Pending>();
  private unsent: v1.StreamedQuery[] = [];
  private lastId = 0n;

  constructor(private readonly client: Client) {
    super(client, v1.PathService.method.streamFindPath);
  }

  async findPath(map: string, start: Place, goal: Goals, options: Options = {}): Promise<v1.FindPathResponse> {
    const { timeoutMs = this.client.timeoutMs } = options;
    const id = ++this.lastId;
    const streamed = create(v1.StreamedQuerySchema, { id, query: query(map, start, goal, options) });
    return await new Promise((resolve, reject) => {
      if (this.error) throw this.error;
      const settle = (result: v1.FindPathResponse | WaystarError) => {
        this.pending.delete(id);
        clearTimeout(timer);
        if (result instanceof WaystarError) reject(result);
        else resolve(result);
      };
      const late = () => settle(new WaystarError('DEADLINE_EXCEEDED', 'no answer in time'));
      const timer = setTimeout(late, Math.min(timeoutMs, MAX_TIMEOUT_MS));
      this.pending.set(id, { query: streamed, attempts: 0, settle });
      this.unsent.push(streamed);
      this.wake();
    });
  }

  protected begin(): void {
    this.unsent = [...this.pending.values()].map((pending) => pending.query);
  }

  protected next() {
    return this.unsent.length > 0 ? { queries: this.unsent.splice(0, MAX_QUERIES) } : undefined;
  }

  protected take({ answers }: v1.StreamFindPathResponse): void {
    for (const { id, result } of answers) {
      const pending = this.pending.get(id);
      if (result.case === 'answer') pending?.settle(result.value);
      if (result.case === 'problem') pending?.settle(WaystarError.of(result.value));
    }
  }

  protected lose(reason = new WaystarError('UNAVAILABLE', 'the stream has ended')): void {
    for (const pending of this.pending.values()) {
      pending.attempts += 1;
      if (this.error || pending.attempts === MAX_ATTEMPTS) pending.settle(reason);
    }
  }
}
