// What FindPath costs over loopback, beside a call of the same shape that does nothing.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/batch.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/service/server.h"
#include "tests/bench/bench.h"
#include "tests/bench/closed_loop.h"
#include "tests/bench/served_process.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

namespace waystar::bench {
namespace {

using std::chrono::nanoseconds;

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
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

void CreateField(int port) {
  const auto stub = v1::MapService::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  v1::CreateMapRequest request;
  request.set_map("field");
  request.mutable_blank()->set_width(64);
  request.mutable_blank()->set_height(64);
  v1::CreateMapResponse response;
  grpc::ClientContext context;
  if (!stub->CreateMap(&context, request, &response).ok()) {
    Die("the benchmark's map was not created");
  }
}

// Starts a real server with a blank map "field" of 64 x 64 cells, and a PathService whose FindPath answers 40
// points without looking at anything.
ServedProcess::Ports Serve() {
  static const auto server =
      rpc::Server::Start({.listen = "127.0.0.1:0", .workers = 2, .log_level = "error"});
  if (!server.ok()) {
    Die("the server does not start");
  }
  static DoNothing service;
  ServedProcess::Ports ports = {(*server)->port(), 0};
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &ports[1]);
  builder.RegisterService(&service);
  static const std::unique_ptr<grpc::Server> do_nothing = builder.BuildAndStart();
  CreateField(ports[0]);
  if (do_nothing == nullptr) {
    Die("the do-nothing server does not start");
  }
  return ports;
}

struct StreamLoad {
  int streams = 4;
  // Messages of one stream.
  int in_flight = 32;
  int queries_per_message = 1;
  // Total number of queries over all streams.
  int queries = 0;
};

constexpr int kBatchThreads = 8;

// Returns the query with another start for each `i`: the server searches once for equal queries of a message.
v1::FindPathRequest Moved(v1::FindPathRequest query, int i) {
  v1::Cell& start = *query.mutable_start()->mutable_cell();
  start.set_y(start.y() + i % 20);
  v1::Cell& goal = *query.mutable_goals(0)->mutable_cell();
  goal.set_y(goal.y() + i / 20 % 20);
  return query;
}

nanoseconds SearchTimeOf(const v1::FindPathResponse& answer) {
  const google::protobuf::Duration& search = answer.info().statistics().search_time();
  return std::chrono::seconds(search.seconds()) + nanoseconds(search.nanos());
}

nanoseconds RunStream(v1::PathService::Stub& stub, const v1::FindPathRequest& query, const StreamLoad& load,
                      int queries) {
  grpc::ClientContext context;
  const auto stream = stub.StreamFindPath(&context);
  v1::StreamFindPathRequest message;
  for (int i = 0; i < load.queries_per_message; ++i) {
    *message.add_queries()->mutable_query() = Moved(query, i);
  }
  const int window = load.in_flight * load.queries_per_message;
  int sent = 0;
  int answered = 0;
  v1::StreamFindPathResponse answers;
  nanoseconds searching{0};
  while (answered < queries) {
    while (sent < queries && sent - answered <= window - load.queries_per_message) {
      if (!stream->Write(message)) {
        Die(stream->Finish().error_message());
      }
      sent += load.queries_per_message;
    }
    if (!stream->Read(&answers)) {
      Die(stream->Finish().error_message());
    }
    for (const v1::StreamedAnswer& answer : answers.answers()) {
      if (answer.has_problem()) {
        Die(answer.problem().message());
      }
      searching += SearchTimeOf(answer.answer());
    }
    answered += answers.answers_size();
  }
  stream->WritesDone();
  stream->Finish();
  return searching;
}

nanoseconds RunTogether(int threads, const std::function<nanoseconds()>& run) {
  std::atomic<std::int64_t> nanos = 0;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] { nanos += run().count(); });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  return nanoseconds(nanos);
}

std::unique_ptr<v1::PathService::Stub> Connect(int port) {
  return v1::PathService::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
}

// Sends the query, moved down by a row up to 20 times, again and again by PathService.StreamFindPath at
// 127.0.0.1:port, and returns once all are answered, with what the answers say that their searches took
// together. Ends the program if one fails.
nanoseconds RunStreamLoop(int port, const v1::FindPathRequest& request, const StreamLoad& load) {
  const auto stub = Connect(port);
  return RunTogether(load.streams,
                     [&] { return RunStream(*stub, request, load, load.queries / load.streams); });
}

// Likewise by FindPaths: `calls` calls of so many queries each, 8 at a time.
nanoseconds RunBatchLoop(int port, const v1::FindPathRequest& request, int queries_per_call, int calls) {
  const auto stub = Connect(port);
  v1::FindPathsRequest batch;
  client::ShareFields(request, batch);
  for (int i = 0; i < queries_per_call; ++i) {
    client::AddEnds(Moved(request, i), batch);
  }
  std::atomic<int> left = calls;
  return RunTogether(kBatchThreads, [&] {
    nanoseconds searching{0};
    while (left.fetch_sub(1) > 0) {
      grpc::ClientContext context;
      v1::FindPathsResponse response;
      if (const grpc::Status status = stub->FindPaths(&context, batch, &response); !status.ok()) {
        Die(status.error_message());
      }
      for (const v1::FindPathsResult& result : response.results()) {
        searching += SearchTimeOf(result.answer());
      }
    }
    return searching;
  });
}

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

double MicrosPer(nanoseconds time, int queries) {
  return std::chrono::duration<double, std::micro>(time).count() / queries;
}

Cost MeasureCalls(const std::string& name, const ServedProcess& process, int port, int in_flight, int calls) {
  const v1::FindPathRequest request = FortyPoints();
  RunClosedLoop(port, request, in_flight, kWarmUpCalls);
  const nanoseconds cpu_before = process.CpuTime();
  LoopResult result = RunClosedLoop(port, request, in_flight, calls);
  const Cost cost{.cpu = MicrosPer(process.CpuTime() - cpu_before, calls),
                  .search = result.search_micros.Mean()};
  std::cout << absl::StreamFormat("%-12s %9d %11.0f %9.0f %9.0f %22.1f %10.1f\n", name, in_flight,
                                  calls / result.elapsed.count(), result.latency_micros.Median(),
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
    const Cost nothing = MeasureCalls("do nothing", process, process.ports()[1], in_flight, calls);
    find_path = MeasureCalls("FindPath", process, process.ports()[0], in_flight, calls);
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
      return RunStreamLoop(process.ports()[0], FortyPoints(),
                           {.queries_per_message = per_message, .queries = queries});
    });
  }
  measure("FindPaths of 100", kQueries,
          [&](int queries) { return RunBatchLoop(process.ports()[0], FortyPoints(), 100, queries / 100); });
}

}  // namespace
}  // namespace waystar::bench

int main() {
  const waystar::bench::ServedProcess process(&waystar::bench::Serve);
  waystar::bench::Cost find_path;
  waystar::bench::MeasureUnary(process, find_path);
  waystar::bench::MeasureMany(process, find_path);
  return 0;
}
