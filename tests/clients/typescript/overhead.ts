// Prints how long findPath takes, and the same call of the bare client of gRPC: overhead.js SERVER
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { connect, FindPathRequestSchema, FindPathResponseSchema, location } from '@waystar/client';

const ROUNDS = 20;
const CALLS = 200;
const [server = ''] = process.argv.slice(2);
const map = 'tiles';
const start = location([0, 0]);
const goals = [location([15, 9])];
const request = create(FindPathRequestSchema, { map, start, goals });
const client = connect(server);
const tiles = client.map(map);
const grpc = new Client(server, credentials.createInsecure());

function callBare(): Promise<unknown> {
  return new Promise((resolve, reject) => {
    grpc.makeUnaryRequest(
      '/waystar.v1.PathService/FindPath',
      (message: typeof request) => Buffer.from(toBinary(FindPathRequestSchema, message)),
      (bytes) => fromBinary(FindPathResponseSchema, bytes),
      request,
      (error, answer) => (error ? reject(error) : resolve(answer)),
    );
  });
}

async function medianUs(call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const begin = performance.now();
    await call();
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[CALLS / 2]! * 1000;
}

let [ours, bare] = [Infinity, Infinity];
for (let round = 0; round < ROUNDS; round++) {
  ours = Math.min(ours, await medianUs(() => tiles.findPath([0, 0], [15, 9])));
  bare = Math.min(bare, await medianUs(callBare));
}
const ratio = (ours / bare).toFixed(2);
console.log(`findPath ${ours.toFixed()} us, the bare client of gRPC ${bare.toFixed()} us, ratio ${ratio}`);
client.close();
grpc.close();
