#include "client/service_config.h"

namespace waystar::client {

const char kServiceConfig[] = R"json({
  "methodConfig": [{
    "name": [
      {"service": "waystar.v1.PathService", "method": "FindPath"},
      {"service": "waystar.v1.PathService", "method": "TraceSearch"},
      {"service": "waystar.v1.PathService", "method": "FindPaths"},
      {"service": "waystar.v1.PathService", "method": "ComputeCostMatrix"},
      {"service": "waystar.v1.PathService", "method": "FindReachable"},
      {"service": "waystar.v1.PathService", "method": "ComputeFlowField"},
      {"service": "waystar.v1.PathService", "method": "CheckReachability"},
      {"service": "waystar.v1.PathService", "method": "CastRay"},
      {"service": "waystar.v1.PathService", "method": "SampleCells"},
      {"service": "waystar.v1.MapService", "method": "GetMap"},
      {"service": "waystar.v1.MapService", "method": "ListMaps"},
      {"service": "waystar.v1.MapService", "method": "ListObstacles"},
      {"service": "waystar.v1.MapService", "method": "ListPortals"},
      {"service": "waystar.v1.MapService", "method": "ListNodes"},
      {"service": "waystar.v1.MapService", "method": "ExportMap"},
      {"service": "waystar.v1.ServerService", "method": "GetServerInfo"},
      {"service": "grpc.health.v1.Health", "method": "Check"}
    ],
    "retryPolicy": {
      "maxAttempts": 4,
      "initialBackoff": "0.05s",
      "maxBackoff": "1s",
      "backoffMultiplier": 3,
      "retryableStatusCodes": ["UNAVAILABLE"]
    }
  }],
  "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}
})json";

}  // namespace waystar::client
