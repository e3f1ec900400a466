import type { MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { type Client, newRequestId } from './client.js';
import * as v1 from './messages.js';
import { type EditInit, type Fields, type Goals, location, type Place } from './places.js';
import type { CallOptions } from './transport.js';
import { reopened } from './wait.js';

// Other fields of a request, and options of the call.
export type QueryFields = Fields<typeof v1.FindPathRequestSchema, 'map' | 'start' | 'goals'>;
export type FindPathOptions = QueryFields & CallOptions;
export type UpdateOptions = Fields<typeof v1.UpdateMapRequestSchema, 'map' | 'edits'> & CallOptions;
export type CheckMovesOptions = Fields<typeof v1.CheckMovesRequestSchema, 'map' | 'moves'> & CallOptions;

export interface Move {
  from: Place;
  to: Place;
  elapsedMs: number;
  // That of the call if unset.
  speed?: number;
}

export interface WatchOptions {
  // The last version that is known. If unset, the watch starts with the next change.
  after?: MessageInitShape<typeof v1.VersionSchema> | undefined;
  withEdits?: boolean;
  signal?: AbortSignal;
}

// `watching`, which is the first event, `commit` or `resynchronize`, with its message as `value`.
export type WatchEvent = Exclude<v1.WatchMapResponse['event'], { case: undefined }>;

// A map by its id. Nothing is sent before a call.
export class MapHandle {
  constructor(private readonly client: Client, readonly id: string) {}

  // Finds a cheapest path to the goal, or to the nearest of several.
  async findPath(start: Place, goal: Goals, options: FindPathOptions = {}): Promise<v1.FindPathResponse> {
    return await this.client.call(v1.PathService.method.findPath, query(this.id, start, goal, options), options);
  }

  // Applies all edits as one revision, or none. Retries are safe.
  async update(edits: EditInit[], options: UpdateOptions = {}): Promise<v1.UpdateMapResponse> {
    const request = { requestId: newRequestId(), ...options, map: this.id, edits };
    return await this.client.call(v1.MapService.method.updateMap, request, options);
  }

  // Judges moves. `speed` is the cost that agents pay per second.
  async checkMoves(moves: readonly Move[], options: CheckMovesOptions): Promise<v1.CheckMovesResponse> {
    const checks = moves.map(({ elapsedMs, speed, ...way }) => {
      return { from: location(way.from), to: location(way.to), elapsed: durationFromMs(elapsedMs), speed };
    });
    const request = { ...options, map: this.id, moves: checks };
    return await this.client.call(v1.PathService.method.checkMoves, request, options);
  }

  // Yields all changes of the map until the loop over it ends. When the connection is lost, the watch goes on where it
  // was, at any server. `resynchronize`: read the map again, as changes were missed or it was replaced.
  async *watch({ after, withEdits = false, signal }: WatchOptions = {}): AsyncGenerator<WatchEvent> {
    let hasStarted = false;
    const { watchMap } = v1.MapService.method;
    const open = () => this.client.stream(watchMap, [{ map: this.id, after, withEdits }], { signal });
    for await (const { event } of reopened(open, signal)) {
      if (event.case === undefined || (event.case === 'watching' && hasStarted)) continue;
      hasStarted = true;
      // With `after`, older revisions follow `watching`.
      if (event.case !== 'watching' || !after) after = event.value.version;
      yield event;
    }
  }

  async info(options?: CallOptions): Promise<v1.MapInfo> {
    return (await this.client.call(v1.MapService.method.getMap, { map: this.id }, options)).info!;
  }

  async delete(options?: CallOptions): Promise<void> {
    await this.client.call(v1.MapService.method.deleteMap, { map: this.id }, options);
  }
}

// Returns the message for a query.
export function query(map: string, start: Place, goal: Goals, fields: QueryFields) {
  const goals = (Array.isArray(goal) && typeof goal[0] !== 'number' ? goal : [goal]) as readonly Place[];
  return { ...fields, map, start: location(start), goals: goals.map(location) };
}
