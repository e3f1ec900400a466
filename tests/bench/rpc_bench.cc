// What FindPath costs over loopback, beside a call of the same shape that does nothing.

#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/client.h"
#include "client/metrics.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "tests/bench/bench.h"
#include "tests/bench/served_load.h"
#include "tests/e2e/server_process.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/server_service.grpc.pb.h"

namespace waystar::bench {
namespace {

grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

// Answers 40 points without looking at anything.
class DoNothing final : public v1::PathService::CallbackService {
 public:
  grpc::ServerUnaryReactor* FindPath(grpc::CallbackServerContext* context,
                                     const v1::FindPathRequest* /*request*/,
                                     v1::FindPathResponse* response) override {
    for (int i = 0; i < 40; ++i) {
      v1::Cell& point = *response->mutable_path()->add_points();
      point.set_x(i);
      point.set_y(i);
    }
    return Finish(context);
  }
};

// Knows the processor time of this process alone.
class OneMetric final : public v1::ServerService::CallbackService {
 public:
  grpc::ServerUnaryReactor* GetMetrics(grpc::CallbackServerContext* context,
                                       const v1::GetMetricsRequest* /*request*/,
                                       v1::GetMetricsResponse* response) override {
    v1::MetricFamily& family = *response->add_families();
    family.set_name("process_cpu_seconds_total");
    family.add_metrics()->set_value(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    return Finish(context);
  }
};

// However the benchmark ends, the process that calls this ends with it.
void EndWithParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

// Serves DoNothing in another process, and returns the port. Call this before
// anything has started threads or used gRPC.
int ServeNothing() {
  int ends[2];
  if (pipe(ends) != 0) {
    Die("no pipe");
  }
  const pid_t pid = fork();
  int port = 0;
  if (pid == 0) {
    EndWithParent();
    DoNothing service;
    OneMetric metric;
    const auto server = grpc::ServerBuilder()
                            .AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port)
                            .RegisterService(&service)
                            .RegisterService(&metric)
                            .BuildAndStart();
    if (write(ends[1], &port, sizeof(port)) == sizeof(port)) {
      server->Wait();
    }
    std::_Exit(1);
  }
  if (pid < 0 || read(ends[0], &port, sizeof(port)) != sizeof(port)) {
    Die("the do-nothing server does not start");
  }
  return port;
}

// Queries of 40 points between other cells each: the server searches once for equal queries of a message.
load::Part FortyPoints() {
  load::Part part;
  for (int i = 0; i < 2'000; ++i) {
    v1::FindPathRequest& query = part.queries.emplace_back();
    query.set_map("field");
    v1::Cell& start = *query.mutable_start()->mutable_cell();
    start.set_x(5 + i / 400);
    start.set_y(10 + i % 20);
    v1::Cell& goal = *query.add_goals()->mutable_cell();
    goal.set_x(44 + i / 400);
    goal.set_y(25 + i / 20 % 20);
  }
  return part;
}

// Server CPU and search time of one query, in microseconds.
struct Cost {
  double cpu = 0;
  double search = 0;
};

// The number and the seconds of all searches so far.
std::pair<double, double> Searches(const client::Client& client) {
  std::pair<double, double> searches;
  const v1::GetMetricsResponse metrics = OrDie(client.GetMetrics());
  for (const v1::Metric* metric : client::MetricsOf(metrics, "waystar_search_seconds")) {
    searches.first += static_cast<double>(metric->histogram().count());
    searches.second += metric->histogram().sum();
  }
  return searches;
}

std::pair<load::Report, Cost> Measure(int port, load::Settings settings) {
  settings.duration = std::chrono::seconds(2);
  const client::Client client({.target = absl::StrCat("127.0.0.1:", port), .retry = false});
  const auto before = Searches(client);
  load::Report report = RunLoad(port, FortyPoints(), settings);
  const auto after = Searches(client);
  Cost cost{.cpu = std::chrono::duration<double, std::micro>(report.server_cpu.value()).count() /
                   static_cast<double>(report.tally.answered)};
  if (after.first > before.first) {
    cost.search = (after.second - before.second) / (after.first - before.first) * 1e6;
  }
  return {std::move(report), cost};
}

Cost MeasureCalls(const std::string& name, int port, int in_flight) {
  const auto [report, cost] = Measure(port, {.in_flight = in_flight});
  const load::Histogram& latency = report.tally.latency;
  std::cout << absl::StreamFormat("%-12s %9d %11.0f %9.0f %9.0f %22.1f %10.1f\n", name, in_flight,
                                  report.QueriesPerSecond(),
                                  static_cast<double>(latency.Percentile(50)) / 1e3,
                                  static_cast<double>(latency.Percentile(99)) / 1e3, cost.cpu, cost.search)
            << std::flush;
  return cost;
}

void Main() {
  const int do_nothing = ServeNothing();
  const ServerProcess server({"--workers=2", "--log_level=error", "--metrics_listen=127.0.0.1:0"},
                             &EndWithParent);
  OrDie(server.NewClient()->CreateMap(BlankMap("field", 64)).status());
  std::cout << absl::StreamFormat("%-12s %9s %11s %9s %9s %22s %10s\n", "call", "in flight", "calls / s",
                                  "p50 us", "p99 us", "server CPU us / call", "search us");
  Cost unary;
  for (const int in_flight : {1, 8, 64}) {
    const Cost nothing = MeasureCalls("do nothing", do_nothing, in_flight);
    unary = MeasureCalls("FindPath", server.port(), in_flight);
    std::cout << absl::StreamFormat("  server CPU of FindPath beside doing nothing and the search: %.2f\n",
                                    unary.cpu / (nothing.cpu + unary.search));
  }
  std::cout << absl::StreamFormat("\n%-32s %14s %10s %22s\n", "many queries a call", "CPU us / query",
                                  "search us", "of unary, search aside");
  using load::Mode;
  for (const load::Settings& settings :
       {load::Settings{.mode = Mode::kStream, .in_flight = 128, .connections = 4},
        {.mode = Mode::kStream, .per_message = 10, .in_flight = 128, .connections = 4},
        {.mode = Mode::kBatch, .per_message = 100, .in_flight = 8}}) {
    const Cost cost = Measure(server.port(), settings).second;
    const std::string name = settings.mode == Mode::kBatch
                                 ? absl::StrCat("FindPaths of ", settings.per_message)
                                 : absl::StrCat("stream, ", settings.per_message, " a message");
    std::cout << absl::StreamFormat("%-32s %14.2f %10.2f %22.2f\n", name, cost.cpu, cost.search,
                                    (cost.cpu - cost.search) / (unary.cpu - unary.search))
              << std::flush;
  }
}

}  // namespace
}  // namespace waystar::bench

int main() {
  waystar::bench::Main();
  return 0;
}
