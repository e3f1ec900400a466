#pragma once

namespace waystar::client {

// gRPC's service config, as JSON, by which a channel makes calls again that failed with UNAVAILABLE: those
// that only read. A call that changes a map is never made twice, for the first may have been committed. Calls
// stop being repeated while most of them fail, so that clients do not keep a server down that struggles to
// come back. The format: https://github.com/grpc/proposal/blob/master/A6-client-retries.md
extern const char kServiceConfig[];

}  // namespace waystar::client
