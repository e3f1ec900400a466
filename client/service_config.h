#pragma once

namespace waystar::client {

// gRPC's service config as JSON: the text of client/service_config.json.
//
// Several servers take turns, and those whose health service says that they are stopping are passed over.
// Calls that only read and failed with UNAVAILABLE are retried. A call that changes a map is not, because the
// first may have been committed. Retries stop while most calls fail, so that clients do not keep down a
// server that struggles to come back. The format:
// https://github.com/grpc/grpc-proto/blob/master/grpc/service_config/service_config.proto
extern const char kServiceConfig[];

}  // namespace waystar::client
