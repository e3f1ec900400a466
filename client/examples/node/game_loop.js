// A game with 20 ticks a second: 200 agents walk about a city where 12 carts drive.
//
//   node game_loop.js [SERVER [TICKS [SIZE]]]     the city has SIZE x SIZE cells: a multiple of 16, 256 if unset
import { setInterval } from 'node:timers/promises';
import { connect, durationFromMs, moveObstacle, putObstacle, rect } from '@waystar/client';

const TICK_MS = 50;
const [server = 'localhost:7450', ...numbers] = process.argv.slice(2);
const [ticks = 200, size = 256] = numbers.map(Number);

// Every 32 rows there is a wall. Its gates are wide enough for a cart and agents beside it.
const isWall = (y) => y % 32 === 16;
const rowAt = (y) => (isWall(y) ? '....############' : '................').repeat(size / 16);
const random = (below) => Math.floor(Math.random() * below);
const isSame = (a, b) => a[0] === b[0] && a[1] === b[1];

function randomPlace() {
  const place = [random(size), random(size)];
  return isWall(place[1]) ? randomPlace() : place;
}

const client = connect(server, { timeoutMs: 10_000, waitForReady: true });
const city = await client.createMap('node-city', Array.from({ length: size }, (_, y) => rowAt(y)));
const follower = client.followAgents({ atMostEvery: durationFromMs(TICK_MS) });
const agents = Array.from({ length: 200 }, (_, id) => ({ id, at: randomPlace(), goal: randomPlace(), path: [] }));
agents.forEach(({ id, at, goal }) => follower.put(id, city.id, at, goal));
// Carts of 2 x 2 cells go up and down through the gates.
const cartOf = (i) => ({ id: `cart-${i}`, x: ((16 * i) % size) + 1, y: random(size - 1), dy: 1 });
const carts = Array.from({ length: 12 }, (_, i) => cartOf(i));
const isBlocked = ([x, y]) => carts.some((cart) => [0, 1].includes(x - cart.x) && [0, 1].includes(y - cart.y));
let [late, lost, paths, steps] = [0, 0, 0, 0];

// Moves all carts by one update. While the server restarts, it waits.
let areCartsPut = false;
async function drive() {
  const edits = carts.map((cart) => {
    if (cart.y + cart.dy < 0 || cart.y + cart.dy > size - 2) cart.dy = -cart.dy;
    cart.y += cart.dy;
    return areCartsPut ? moveObstacle(cart.id, 0, cart.dy) : putObstacle(cart.id, rect(cart.x, cart.y, 2, 2));
  });
  try {
    await city.update(edits);
    areCartsPut = true;
  } catch (error) {
    // Perhaps the server has applied it: the next update puts the carts where they are.
    areCartsPut = false;
    lost += 1;
    console.error(`The carts are stuck: ${error.message}`);
  }
}

// The path begins where the agent was, and goes on from where it is. If the agent has left it, another one comes.
function takePath(agent) {
  const { answer, problem } = follower.find(agent.id);
  const points = (!problem && answer?.path?.points) || [];
  const places = points.map(({ x, y }) => [x, y]);
  const here = places.findIndex((place) => isSame(place, agent.at));
  agent.path = here < 0 ? [] : places.slice(here + 1);
  if (!problem) paths += 1;
}

function walk(agent) {
  // The game knows where carts are before the server sends a path round them. Until then the agent waits.
  if (agent.path.length > 0 && !isBlocked(agent.path[0])) {
    agent.at = agent.path.shift();
    follower.moveTo(agent.id, agent.at);
    steps += 1;
  }
  if (isSame(agent.at, agent.goal)) {
    agent.goal = randomPlace();
    agent.path = [];
    follower.sendTo(agent.id, agent.goal);
  }
}

let tick = 0;
let driving;
for await (const _ of setInterval(TICK_MS)) {
  const start = performance.now();
  // While an update is under way the carts wait, so that updates stay in order.
  driving ??= drive().finally(() => (driving = undefined));
  // Set if no other stream would help: the token is wrong, for example.
  if (follower.error) throw follower.error;
  follower.takeNews().forEach((id) => takePath(agents[id]));
  agents.forEach(walk);
  follower.flush();
  if (performance.now() - start > TICK_MS) late += 1;
  tick += 1;
  if (tick % 20 === 0) console.log(`tick ${tick}: ${steps} steps, ${paths} paths`);
  if (tick === ticks) break;
}
await driving;
await city.delete();
client.close();
console.log(`${tick} ticks, ${late} late, ${lost} calls lost, ${paths} paths received`);
