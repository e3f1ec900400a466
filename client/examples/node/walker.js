// An agent walks through a yard, and round a crate that is put in its way.
//
//   node walker.js [SERVER]     SERVER is HOST:PORT, or http://HOST:PORT of --http_listen
import { setInterval } from 'node:timers/promises';
import { cells, connect, durationFromMs, putObstacle } from '@waystar/client';
import { connect as connectHttp } from '@waystar/client/http';

const WALKER = 1;
const TICK_MS = 50;
const address = process.argv[2] ?? 'localhost:7450';
const client = address.startsWith('http') ? connectHttp(address) : connect(address);
const yard = await client.createMap('node-yard', ['..........', '....##....', '....##....', '..........']);
const agents = client.followAgents({ atMostEvery: durationFromMs(TICK_MS) });
let at = { x: 0, y: 1 };
// The cells of the crate, once it is there.
let crate = [];
agents.put(WALKER, yard.id, [at.x, at.y], [9, 1]);
let steps = 0;
for await (const _ of setInterval(TICK_MS)) {
  // The path begins where the agent was; it goes on from where it is now.
  const { answer, problem } = agents.find(WALKER) ?? {};
  const points = (!problem && answer?.path?.points) || [];
  const here = points.findIndex(({ x, y }) => x === at.x && y === at.y);
  const next = here < 0 ? undefined : points[here + 1];
  // The path may still lead through the crate.
  if (next && !crate.some(([x, y]) => x === next.x && y === next.y)) {
    at = next;
    agents.moveTo(WALKER, [at.x, at.y]);
    steps += 1;
    console.log(`${steps}: ${at.x},${at.y}`);
    if (steps === 2) {
      crate = [[4, 0], [5, 0]];
      await yard.update([putObstacle('crate', cells(...crate))]);
    }
  }
  if (at.x === 9 && at.y === 1) break;
  agents.flush();
}
await yard.delete();
client.close();
