// What FindPath costs over loopback, beside a call of the same shape that does nothing.

#include <chrono>
#include <functional>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/closed_loop.h"
#include "tests/bench/http_loop.h"
#include "tests/bench/served_process.h"
#include "tests/bench/stream_loop.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::bench {
namespace {

constexpr int kWarmUpCalls = 2'000;

v1::FindPathRequest FortyPoints() {
  v1::FindPathRequest request;
  request.set_map("field");
  v1::Cell& start = *request.mutable_start()->mutable_cell();
  start.set_x(5);
  start.set_y(10);
  v1::Cell& goal = *request.add_goals()->mutable_cell();
  goal.set_x(44);
  goal.set_y(25);
  return request;
}

// Server CPU and search time of one query, in microseconds.
struct Cost {
  double cpu = 0;
  double search = 0;
};

using std::chrono::nanoseconds;

double MicrosPer(nanoseconds time, int queries) {
  return std::chrono::duration<double, std::micro>(time).count() / queries;
}

using Loop = LoopResult (*)(int port, const v1::FindPathRequest& request, int in_flight, int calls);

Cost MeasureCalls(const std::string& name, const ServedProcess& process, Loop loop, int port, int in_flight,
                  int calls) {
  const v1::FindPathRequest request = FortyPoints();
  loop(port, request, in_flight, kWarmUpCalls);
  const nanoseconds cpu_before = process.CpuTime();
  LoopResult result = loop(port, request, in_flight, calls);
  const Cost cost{.cpu = MicrosPer(process.CpuTime() - cpu_before, calls),
                  .search = result.search_micros.Mean()};
  std::cout << absl::StreamFormat("%-12s %9d %11.0f %9.0f %9.0f %22.1f %10.1f\n", name, in_flight,
                                  calls / result.elapsed.count(), result.latency_micros.Percentile(0.5),
                                  result.latency_micros.Percentile(0.99), cost.cpu, cost.search)
            << std::flush;
  return cost;
}

void ShowRatio(const std::string& name, const Cost& cost, double unary) {
  std::cout << absl::StreamFormat("%-32s %14.2f %10.2f %22.2f\n", name, cost.cpu, cost.search,
                                  (cost.cpu - cost.search) / unary)
            << std::flush;
}

void MeasureUnary(const ServedProcess& process, Cost& find_path) {
  std::cout << absl::StreamFormat("%-12s %9s %11s %9s %9s %22s %10s\n", "call", "in flight", "calls / s",
                                  "p50 us", "p99 us", "server CPU us / call", "search us");
  for (const int in_flight : {1, 8, 64}) {
    const int calls = in_flight == 1 ? 20'000 : 64'000;
    const Cost nothing =
        MeasureCalls("do nothing", process, &RunClosedLoop, process.do_nothing_port(), in_flight, calls);
    MeasureCalls("over HTTP", process, &RunHttpLoop, process.http_port(), in_flight, calls);
    find_path = MeasureCalls("FindPath", process, &RunClosedLoop, process.port(), in_flight, calls);
    std::cout << absl::StreamFormat("  server CPU of FindPath beside doing nothing and the search: %.2f\n",
                                    find_path.cpu / (nothing.cpu + find_path.search));
  }
}

void MeasureMany(const ServedProcess& process, const Cost& unary) {
  constexpr int kQueries = 200'000;
  const double beside = unary.cpu - unary.search;
  std::cout << absl::StreamFormat("\n%-32s %14s %10s %22s\n", "many queries a call", "CPU us / query",
                                  "search us", "of unary, search aside");
  const auto measure = [&](const std::string& name, int queries, const std::function<nanoseconds(int)>& run) {
    run(queries / 10);
    const nanoseconds before = process.CpuTime();
    const nanoseconds searching = run(queries);
    ShowRatio(
        name,
        {.cpu = MicrosPer(process.CpuTime() - before, queries), .search = MicrosPer(searching, queries)},
        beside);
  };
  for (const int per_message : {1, 10}) {
    measure(absl::StrCat("stream, ", per_message, " a message"), kQueries, [&](int queries) {
      return RunStreamLoop(process.port(), FortyPoints(),
                           {.queries_per_message = per_message, .queries = queries});
    });
  }
  measure("FindPaths of 100", kQueries,
          [&](int queries) { return RunBatchLoop(process.port(), FortyPoints(), 100, queries / 100); });
}

}  // namespace
}  // namespace waystar::bench

int main() {
  const waystar::bench::ServedProcess process;
  waystar::bench::Cost find_path;
  waystar::bench::MeasureUnary(process, find_path);
  waystar::bench::MeasureMany(process, find_path);
  return 0;
}
