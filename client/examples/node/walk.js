// Finds a way through a yard, has a crate put in it, hears of that, and finds the way round.
//
//   node walk.js [SERVER]

import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const MAP = 'node-yard';
const YARD = ['..........', '....##....', '....##....', '..........'];

const protos = protoLoader.loadSync(
  ['waystar/v1/map_service.proto', 'waystar/v1/path_service.proto', 'google/rpc/error_details.proto'],
  {
    includeDirs: ['proto', 'proto/third_party'].map((root) => fileURLToPath(new URL(`../../../${root}`, import.meta.url))),
    keepCase: true,
    enums: String,
    longs: Number,
    defaults: true,
  },
);
const { waystar } = grpc.loadPackageDefinition(protos);
const server = process.argv[2] ?? 'localhost:7450';
const maps = new waystar.v1.MapService(server, grpc.credentials.createInsecure());
const paths = new waystar.v1.PathService(server, grpc.credentials.createInsecure());

// gRPC has no deadline of its own: give one to each call.
function call(client, method, request) {
  return promisify(client[method].bind(client))(request, new grpc.Metadata(), { deadline: Date.now() + 5000 });
}

// The reason and the field that the server gives with every refusal.
function refusal(error) {
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  const { details } = protos['google.rpc.Status'].deserialize(bytes);
  const info = details.find(({ type_url }) => type_url.endsWith('/google.rpc.ErrorInfo'));
  const { reason, metadata } = protos['google.rpc.ErrorInfo'].deserialize(info.value);
  return { reason, field: metadata.field };
}

async function find(goal) {
  const query = { map: MAP, start: { cell: { x: 0, y: 1 } }, goals: [{ cell: goal }], path_form: 'PATH_FORM_CORNERS' };
  const { info, cost, path } = await call(paths, 'FindPath', query);
  const way = path.points.map(({ x, y }) => `${x},${y}`).join(' ');
  console.log(`revision ${info.version.revision}: cost ${cost.toFixed(4)} by ${way}`);
}

async function walk() {
  const watch = maps.WatchMap({ map: MAP });
  const events = watch[Symbol.asyncIterator]();
  // The first event says that from here on nothing is missed.
  await events.next();

  await find({ x: 9, y: 1 });
  const crate = { id: 'crate', shape: { rectangles: [{ x: 4, y: 0, width: 2, height: 1 }] } };
  await call(maps, 'UpdateMap', { map: MAP, edits: [{ add_obstacle: crate }] });
  const { value: event } = await events.next();
  console.log(`revision ${event.commit.version.revision}: ${event.commit.changed_cells} cells changed`);
  watch.on('error', () => {}); // What a watch that is cancelled ends with.
  watch.cancel();
  await find({ x: 9, y: 1 });

  try {
    await find({ x: 10, y: 1 });
  } catch (error) {
    const { reason, field } = refusal(error);
    console.log(`refused: ${grpc.status[error.code]} ${reason} (${field}): ${error.details}`);
  }
}

await call(maps, 'CreateMap', { map: MAP, rows: YARD });
try {
  await walk();
} finally {
  await call(maps, 'DeleteMap', { map: MAP });
  maps.close();
  paths.close();
}
