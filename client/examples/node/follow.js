// Fifty agents walk about a yard where carts drive, on one FollowAgents stream.
//
//   node follow.js [SERVER [TICKS]]

import { setInterval } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const MAP = 'yard';
// A wall stands in the middle.
const ROWS = Array.from({ length: 30 }, (_, y) => '.'.repeat(20) + (y >= 8 && y < 22 ? '#' : '.') + '.'.repeat(19));
const CART_ROWS = { red: 3, green: 6, blue: 24 };
const TICK_MS = 10;

const protos = protoLoader.loadSync(['waystar/v1/map_service.proto', 'waystar/v1/path_service.proto'], {
  includeDirs: ['proto', 'proto/third_party'].map((root) => fileURLToPath(new URL(`../../../${root}`, import.meta.url))),
  keepCase: true,
  longs: Number,
  defaults: true,
});
const { waystar } = grpc.loadPackageDefinition(protos);
const server = process.argv[2] ?? 'localhost:7450';
const ticks = Number(process.argv[3] ?? 200);
const maps = new waystar.v1.MapService(server, grpc.credentials.createInsecure());
const paths = new waystar.v1.PathService(server, grpc.credentials.createInsecure());

function call(method, request) {
  return promisify(maps[method].bind(maps))(request, new grpc.Metadata(), { deadline: Date.now() + 5000 });
}

// The same numbers in each run.
let seed = 7;
function random(below) {
  seed = (seed * 48271) % 2147483647;
  return seed % below;
}

function randomOpenCell() {
  for (;;) {
    const cell = { x: random(40), y: random(30) };
    if (ROWS[cell.y][cell.x] === '.') return cell;
  }
}

const isSame = (a, b) => a.x === b.x && a.y === b.y;

class Agent {
  cell = randomOpenCell();
  goal = randomOpenCell();
  path = []; // The cells ahead.
  number = 0; // Number of the newest change.
  goalNumber = 0; // Number of the change that set the goal.

  constructor(id) {
    this.id = id;
  }

  change(what) {
    this.number += 1;
    return { agent: this.id, number: this.number, ...what };
  }

  put() {
    return this.change({ put: { map: MAP, start: { cell: this.cell }, goals: [{ cell: this.goal }] } });
  }

  step() {
    this.cell = this.path.shift();
    return this.change({ at: { cell: this.cell } });
  }

  sendTo(goal) {
    this.goal = goal;
    this.goalNumber = this.number + 1;
    return this.change({ goal: { cell: goal } });
  }

  take(state) {
    if (state.number < this.goalNumber) return; // The state is about an earlier goal.
    // There are no points if the goal cannot be reached now. If the agent is not on this path any more, it
    // stays where it is: the server notices and sends another path.
    const points = state.answer?.path.points ?? [];
    const index = points.findIndex((point) => isSame(point, this.cell));
    this.path = index < 0 ? [] : points.slice(index + 1);
  }
}

// Moves the carts, which go to and fro, and returns the cells that they block.
async function driveCarts(steps) {
  const left = Math.abs((steps % 72) - 36);
  const carts = Object.entries(CART_ROWS).map(([id, y]) => {
    const cells = [0, 1, 2, 3].map((i) => ({ x: left + i, y }));
    return { id, shape: { cells } };
  });
  await call('UpdateMap', { map: MAP, edits: carts.map((cart) => ({ put_obstacle: cart })) });
  return carts.flatMap(({ shape }) => shape.cells);
}

async function play() {
  const agents = Array.from({ length: 50 }, (_, id) => new Agent(id));
  let [states, moves, arrivals] = [0, 0, 0];
  let ended = null;
  const stream = paths.FollowAgents();
  stream.on('data', (message) => {
    for (const state of message.states) {
      if (state.end) stream.destroy(new Error(`agent ${state.agent} is not followed any more: ${state.end.message}`));
      agents[state.agent].take(state);
      states += 1;
    }
  });
  stream.on('error', (error) => (ended = error));
  stream.write({
    changes: agents.map((agent) => agent.put()),
    at_most_every: { nanos: TICK_MS * 1e6 },
  });
  let blocked = [];
  let tick = 0;
  for await (const _ of setInterval(TICK_MS)) {
    if (ended) throw ended;
    if (tick === ticks) break;
    if (tick % 5 === 0) blocked = await driveCarts(tick / 5);
    const changes = [];
    for (const agent of agents) {
      // If a cart has just come in between, the agent waits for its new path.
      if (agent.path.length > 0 && !blocked.some((cell) => isSame(cell, agent.path[0]))) {
        changes.push(agent.step());
        moves += 1;
      }
      if (isSame(agent.cell, agent.goal)) {
        changes.push(agent.sendTo(randomOpenCell()));
        arrivals += 1;
      }
    }
    stream.write({ changes });
    tick += 1;
  }
  stream.cancel();
  console.log(`${ticks} ticks, ${agents.length} agents: ${states} states for ${moves} moves, ${arrivals} arrivals`);
}

await call('CreateMap', { map: MAP, rows: ROWS });
try {
  await play();
} finally {
  await call('DeleteMap', { map: MAP });
  maps.close();
  paths.close();
}
