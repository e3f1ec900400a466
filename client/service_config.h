#pragma once

namespace waystar::client {

// gRPC's service config, as JSON: what client/service_config.json says.
//
// Several servers take turns, and those whose health service says that they are stopping are passed over.
// Calls that only read and failed with UNAVAILABLE are made again. A call that changes a map is not, for the
// first may have been committed. Calls stop being repeated while most of them fail, so that clients do not
// keep a server down that struggles to come back. The format:
// https://github.com/grpc/grpc-proto/blob/master/grpc/service_config/service_config.proto
extern const char kServiceConfig[];

}  // namespace waystar::client
