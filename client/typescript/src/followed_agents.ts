import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { Client } from './client.js';
import { WaystarError } from './error.js';
import { LastingStream } from './lasting_stream.js';
import { query, type QueryFields } from './map_handle.js';
import * as v1 from './messages.js';
import { type Fields, location, type Place } from './places.js';

// The server takes no more changes in a message. As JSON, a message has up to 23 times its bytes.
const MAX_CHANGES = 10_000;
const MESSAGE_BYTES = 128 << 10;
const RETRY_MS = 1000;

type Asks = typeof v1.FollowAgentsRequestSchema;
type Tells = typeof v1.FollowAgentsResponseSchema;
type Change = MessageInitShape<typeof v1.AgentChangeSchema>;

export type FollowSettings = Fields<Asks, 'changes'>;

// The newest state of an agent. Before the first one, `hasEnded` is false and all else is unset.
export interface AgentPath {
  // The newest answer to the agent's query. It stays while there is a problem.
  answer?: v1.FindPathResponse;
  // Why there is no answer now.
  problem?: WaystarError | undefined;
  // True while the server does not follow the agent: `problem` is why.
  hasEnded: boolean;
  // The version of the map that the state is for.
  version?: v1.Version | undefined;
}

interface Agent {
  // Its start is where the agent is.
  query: v1.FindPathRequest;
  // Number of the change that set the query. States for older queries are ignored.
  asked: bigint;
  path: AgentPath;
  // The newest version at which the answer of `path` was right, if there is one.
  right?: v1.Version | undefined;
  // True once this stream has sent a state for the newest query: progress is about it too.
  isFollowed: boolean;
}

// FollowAgents for a game loop: change agents, call flush once a tick, and take what is new. When a stream ends
// because the server is gone, restarts or is too busy, another one is opened, after 100 ms at first and up to 5 s
// later, and all agents are put where they are, with the paths that they have. An agent is put again with a later
// flush, if it has ended because its map was replaced or is not loaded yet, or the server has no room.
export class FollowedAgents extends LastingStream<Asks, Tells> {
  private readonly agents = new Map<number, Agent>();
  private readonly progress = new Map<string, v1.MapProgress>();
  private readonly news = new Set<number>();
  // One change of an agent holds all that was done to it.
  private readonly changes = new Map<number, v1.AgentChange>();
  // Agents to put again, and when.
  private readonly retries = new Map<number, number>();
  private lastNumber = 0n;
  private isOpen = false;

  constructor(client: Client, private readonly settings: FollowSettings = {}) {
    super(client, v1.PathService.method.followAgents);
  }

  // Changes of agents, which flush sends. `fields` are others of FindPathRequest. moveTo and sendTo do nothing for an
  // agent that was not put. `map` is the map that an agent has come to through a portal, if it is not where it was.
  put(id: number, map: string, start: Place, goal: Place, fields: QueryFields = {}): void {
    this.ask(id, create(v1.FindPathRequestSchema, query(map, start, goal, fields)));
  }

  moveTo(id: number, place: Place, map?: string): void {
    const agent = this.agents.get(id);
    if (!agent) return;
    const { query, path, isFollowed } = agent;
    const start = create(v1.LocationSchema, location(place));
    if (map && map !== query.map) {
      const goalMap = query.goalMap || query.map;
      this.ask(id, { ...query, start, map, goalMap: goalMap === map ? '' : goalMap, view: undefined });
      return;
    }
    query.start = start;
    // A put that is not sent yet has the same query.
    const isPut = this.changes.get(id)?.change.case === 'put';
    if (!isPut && (!path.hasEnded || !isFollowed)) this.change(id, { case: 'at', value: start });
  }

  sendTo(id: number, goal: Place): void {
    const query = this.agents.get(id)?.query;
    if (query) this.ask(id, { ...query, goals: [create(v1.LocationSchema, location(goal))] });
  }

  remove(id: number): void {
    if (this.agents.delete(id)) this.change(id, { case: 'remove', value: {} });
  }

  // Sends the changes since the last call.
  flush(): void {
    const now = performance.now();
    for (const [id, time] of this.retries) {
      const agent = this.agents.get(id);
      if (time <= now && agent?.path.hasEnded) this.putAgain(id, agent);
      if (time <= now) this.retries.delete(id);
    }
    // The next stream puts all agents as they are then.
    if (!this.isOpen) this.changes.clear();
    this.wake();
  }

  // Returns the agents whose state is new since the last call.
  takeNews(): number[] {
    const news = [...this.news].filter((id) => this.agents.has(id));
    this.news.clear();
    return news;
  }

  // Returns the newest state of an agent; undefined if it was not put.
  find(id: number): AgentPath | undefined {
    return this.agents.get(id)?.path;
  }

  // Returns the versions at which the paths of all agents on the map are known to be right and walkable, if they are.
  progressOf(map: string): v1.MapProgress | undefined {
    const all = [...this.agents.values()].filter((agent) => agent.query.map === map);
    return all.every(({ isFollowed, path }) => isFollowed || path.hasEnded) ? this.progress.get(map) : undefined;
  }

  protected begin(): void {
    this.isOpen = true;
    this.changes.clear();
    this.retries.clear();
    this.agents.forEach((agent, id) => this.putAgain(id, agent));
  }

  protected next(): MessageInitShape<Asks> | undefined {
    const changes: v1.AgentChange[] = [];
    let bytes = 0;
    for (const [id, change] of this.changes) {
      if (change.change.case === 'put') bytes += toBinary(v1.AgentChangeSchema, change).length;
      if (changes.length === MAX_CHANGES || (changes.length > 0 && bytes > MESSAGE_BYTES)) break;
      this.changes.delete(id);
      changes.push(change);
    }
    return changes.length > 0 ? { ...this.settings, changes } : undefined;
  }

  protected take({ states, progress }: v1.FollowAgentsResponse): void {
    states.forEach((state) => this.takeState(state));
    progress.forEach((each) => this.progress.set(each.map, each));
  }

  // Keeps the versions at which the stream has said that paths are right.
  protected lose(): void {
    this.isOpen = false;
    for (const agent of this.agents.values()) {
      const { query, right, isFollowed } = agent;
      const version = this.progress.get(query.map)?.version;
      const isSameMap = version !== undefined && version.epoch === right?.epoch;
      if (isFollowed && isSameMap && version.revision > right.revision) agent.right = version;
    }
    this.progress.clear();
  }

  private change(id: number, change: Change['change'], held?: v1.HeldPath): void {
    const number = ++this.lastNumber;
    this.changes.set(id, create(v1.AgentChangeSchema, { agent: BigInt(id), number, change, held }));
  }

  private ask(id: number, query: v1.FindPathRequest): void {
    const agent = { query, asked: 0n, path: { hasEnded: false }, isFollowed: false };
    this.agents.set(id, agent);
    this.putAgain(id, agent);
  }

  // Puts an agent where it is, with the path that it has.
  private putAgain(id: number, agent: Agent): void {
    this.change(id, { case: 'put', value: agent.query }, heldPath(agent));
    agent.asked = this.lastNumber;
    agent.isFollowed = false;
  }

  private takeState({ agent: agentId, number, version, state }: v1.AgentState): void {
    const id = Number(agentId);
    const agent = this.agents.get(id);
    if (!agent || number < agent.asked) return;
    const { path } = agent;
    const wasRight = !path.problem;
    agent.isFollowed = true;
    path.version = version;
    path.hasEnded = state.case === 'end';
    path.problem = undefined;
    if (state.case === 'held' && wasRight) return;
    this.news.add(id);
    if (state.case === 'answer') {
      path.answer = state.value;
      agent.right = state.value.outcome === v1.Outcome.FOUND ? version : undefined;
    } else if (state.case === 'problem' || state.case === 'end') {
      path.problem = WaystarError.of(state.value);
      const { code, reason } = path.problem;
      if (reason !== 'REVISION_NOT_YET') agent.right = undefined;
      const isSoon = reason === 'MAP_REPLACED';
      const isLater = path.hasEnded && (code === 'UNAVAILABLE' || code === 'RESOURCE_EXHAUSTED');
      if (isSoon || isLater) this.retries.set(id, performance.now() + (isSoon ? 0 : RETRY_MS));
    }
  }
}

// Returns what the server reads of a path that it gets back; nothing if the agent has no path that was right.
function heldPath({ path: { answer }, right: version }: Agent): v1.HeldPath | undefined {
  if (!version || !answer?.path) return undefined;
  const path: v1.Path = { ...answer.path, surface: [], corridor: [], polygons: [] };
  if (path.points.length + path.directions.length + path.nodes.length > 0) path.positions = [];
  const held = create(v1.HeldPathSchema, { path, cost: answer.cost, version });
  return toBinary(v1.HeldPathSchema, held).length > MESSAGE_BYTES ? undefined : held;
}
