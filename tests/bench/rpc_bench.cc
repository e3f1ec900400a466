// What FindPath costs over loopback, beside a call of the same shape that does nothing.

#include <chrono>
#include <iostream>
#include <string>

#include "absl/strings/str_format.h"
#include "tests/bench/closed_loop.h"
#include "tests/bench/served_process.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::bench {
namespace {

constexpr int kWarmUpCalls = 2'000;

v1::FindPathRequest FortyPoints() {
  v1::FindPathRequest request;
  request.set_map("field");
  request.mutable_start()->set_x(5);
  request.mutable_start()->set_y(10);
  request.mutable_goal()->set_x(44);
  request.mutable_goal()->set_y(25);
  return request;
}

void Measure(const std::string& name, const ServedProcess& process, int port, int in_flight, int calls) {
  const v1::FindPathRequest request = FortyPoints();
  RunClosedLoop(port, request, in_flight, kWarmUpCalls);
  const std::chrono::nanoseconds cpu_before = process.CpuTime();
  LoopResult result = RunClosedLoop(port, request, in_flight, calls);
  const std::chrono::duration<double, std::micro> cpu = process.CpuTime() - cpu_before;
  std::cout << absl::StreamFormat("%-12s %9d %11.0f %9.0f %9.0f %22.1f\n", name, in_flight,
                                  calls / result.elapsed.count(), result.latency_micros.Percentile(0.5),
                                  result.latency_micros.Percentile(0.99), cpu.count() / calls)
            << std::flush;
}

}  // namespace
}  // namespace waystar::bench

int main() {
  const waystar::bench::ServedProcess process;
  std::cout << absl::StreamFormat("%-12s %9s %11s %9s %9s %22s\n", "call", "in flight", "calls / s", "p50 us",
                                  "p99 us", "server CPU us / call");
  for (const int in_flight : {1, 8, 64}) {
    const int calls = in_flight == 1 ? 20'000 : 60'000;
    waystar::bench::Measure("do nothing", process, process.do_nothing_port(), in_flight, calls);
    waystar::bench::Measure("FindPath", process, process.port(), in_flight, calls);
  }
  return 0;
}
