export { durationFromMs } from '@bufbuild/protobuf/wkt';
export * from './client.js';
export { type Code, type Reason, WaystarError } from './error.js';
export * from './followed_agents.js';
export * from './map_handle.js';
export * from './messages.js';
export * from './path_stream.js';
export * from './places.js';
export type { CallOptions, Transport } from './transport.js';
