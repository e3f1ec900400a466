#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/top_text.h"
#include "client/load/json_text.h"

namespace waystar::cli {
namespace {

using load::JsonArray;
using load::JsonBool;
using load::JsonNumber;
using load::JsonObject;
using load::JsonQuoted;

std::string Nanos(absl::Duration time) { return JsonNumber(absl::ToInt64Nanoseconds(time)); }
std::string Nanos(const std::optional<absl::Duration>& time) { return time ? Nanos(*time) : "null"; }

template <typename T>
std::string NumberOrNull(const std::optional<T>& number) {
  return number ? JsonNumber(*number) : "null";
}

std::string MethodsJson(const Rates& rates) {
  std::vector<std::string> methods;
  for (const MethodRates& method : rates.methods) {
    methods.push_back(JsonObject({{"method", JsonQuoted(method.method)},
                                  {"requests_per_second", JsonNumber(method.requests_per_second)},
                                  {"failures_per_second", JsonNumber(method.failures_per_second)},
                                  {"p50_nanos", Nanos(method.median)},
                                  {"p99_nanos", Nanos(method.percentile_99)},
                                  {"open_calls", JsonNumber(method.open_calls)}}));
  }
  return JsonArray(methods);
}

std::string LanesJson(const Rates& rates) {
  std::vector<std::string> lanes;
  for (const LaneRates& lane : rates.lanes) {
    lanes.push_back(JsonObject({{"lane", JsonQuoted(lane.lane)},
                                {"workers", JsonNumber(lane.workers)},
                                {"running", JsonNumber(lane.running)},
                                {"busy", JsonNumber(lane.busy)},
                                {"queued", JsonNumber(lane.queued)},
                                {"overloaded", JsonBool(lane.is_overloaded)},
                                {"jobs_per_second", JsonNumber(lane.jobs_per_second)},
                                {"wait_nanos", Nanos(lane.wait)},
                                {"refusals_per_second", JsonNumber(lane.refusals_per_second)}}));
  }
  return JsonArray(lanes);
}

std::string MapsJson(const Rates& rates) {
  std::vector<std::string> maps;
  for (const MapRates& map : rates.maps) {
    maps.push_back(JsonObject({{"map", JsonQuoted(map.map)},
                               {"revision", JsonNumber(map.revision)},
                               {"updates_per_second", NumberOrNull(map.updates_per_second)},
                               {"bytes", JsonNumber(map.bytes)}}));
  }
  return JsonArray(maps);
}

}  // namespace

std::string TopJson(const Rates& rates, const std::string& server) {
  return JsonObject({{"server", JsonQuoted(server)},
                     {"uptime_nanos", Nanos(rates.uptime)},
                     {"period_nanos", Nanos(rates.period)},
                     {"requests_per_second", JsonNumber(rates.requests_per_second)},
                     {"failures_per_second", JsonNumber(rates.failures_per_second)},
                     {"refusals_per_second", JsonNumber(rates.refusals_per_second)},
                     {"resident_bytes", NumberOrNull(rates.resident_bytes)},
                     {"processors", NumberOrNull(rates.processors)},
                     {"connections", NumberOrNull(rates.connections)},
                     {"watches", JsonNumber(rates.watches)},
                     {"transfers", JsonNumber(rates.transfers)},
                     {"lanes", LanesJson(rates)},
                     {"methods", MethodsJson(rates)},
                     {"map_count", JsonNumber(rates.map_count)},
                     {"map_bytes", JsonNumber(rates.map_bytes)},
                     {"maps", MapsJson(rates)}}) +
         "\n";
}

}  // namespace waystar::cli
