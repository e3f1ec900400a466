// All messages, enums and services of the protos.
export * from './gen/google/rpc/error_details_pb.js';
export * from './gen/google/rpc/status_pb.js';
export * from './gen/grpc/health/v1/health_pb.js';
export * from './gen/waystar/v1/error_reason_pb.js';
export * from './gen/waystar/v1/map_service_pb.js';
export * from './gen/waystar/v1/path_service_pb.js';
export * from './gen/waystar/v1/picture_service_pb.js';
export * from './gen/waystar/v1/server_service_pb.js';
export * from './gen/waystar/v1/types_pb.js';
