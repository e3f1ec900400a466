// What FindPath costs over loopback, beside a call of the same shape that does nothing.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "google/protobuf/util/json_util.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "tests/bench/closed_loop.h"
#include "tests/bench/served_process.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::bench {
namespace {

using HttpClock = std::chrono::steady_clock;

[[noreturn]] void GiveUp(const char* what) {
  std::cerr << what << "\n";
  std::_Exit(1);
}

std::string HttpRequestOf(const v1::FindPathRequest& request) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(request, &json).ok()) {
    GiveUp("the request has no JSON");
  }
  return absl::StrCat("POST /waystar.v1.PathService/FindPath HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ",
                      json.size(), "\r\n\r\n", json);
}

int OpenHttpConnection(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    GiveUp("no connection for HTTP");
  }
  return fd;
}

// Reads an answer with a Content-Length, as a whole.
void ReadAnswer(int fd, std::string& read) {
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  std::array<char, 64 << 10> part;
  std::size_t size = std::string::npos;
  read.clear();
  while (read.size() < size) {
    const ssize_t bytes = ::read(fd, part.data(), part.size());
    if (bytes <= 0) {
      GiveUp("a call over HTTP failed");
    }
    read.append(part.data(), static_cast<std::size_t>(bytes));
    const std::size_t head = size == std::string::npos ? read.find("\r\n\r\n") : std::string::npos;
    if (head != std::string::npos) {
      const std::size_t at = read.find(kLength);
      std::size_t length = 0;
      if (read.compare(0, 12, "HTTP/1.1 200") != 0 || at > head ||
          !absl::SimpleAtoi(read.substr(at + kLength.size(), read.find('\r', at + 2) - at - kLength.size()),
                            &length)) {
        GiveUp("a call over HTTP failed");
      }
      size = head + 4 + length;
    }
  }
}

// Makes calls one after the other, and returns how long each took.
std::vector<double> CallOneByOne(int port, const std::string& request, int calls) {
  const int fd = OpenHttpConnection(port);
  std::vector<double> micros;
  std::string answer;
  for (int i = 0; i < calls; ++i) {
    const HttpClock::time_point begin = HttpClock::now();
    if (::write(fd, request.data(), request.size()) != static_cast<ssize_t>(request.size())) {
      GiveUp("a call over HTTP failed");
    }
    ReadAnswer(fd, answer);
    micros.push_back(std::chrono::duration<double, std::micro>(HttpClock::now() - begin).count());
  }
  ::close(fd);
  return micros;
}

// Makes `calls` calls of PathService.FindPath with JSON at 127.0.0.1:port, over connections that are kept,
// each with a thread. Ends the program if one fails.
LoopResult RunHttpLoop(int port, const v1::FindPathRequest& request, int connections, int calls) {
  const std::string text = HttpRequestOf(request);
  std::vector<std::vector<double>> micros(static_cast<std::size_t>(connections));
  std::vector<std::thread> threads;
  const HttpClock::time_point begin = HttpClock::now();
  for (std::vector<double>& own : micros) {
    threads.emplace_back([&] { own = CallOneByOne(port, text, calls / connections); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  LoopResult result;
  result.elapsed = HttpClock::now() - begin;
  for (const std::vector<double>& own : micros) {
    for (const double each : own) {
      result.latency_micros.Add(each);
    }
  }
  return result;
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

[[noreturn]] void Fail(const std::string& what) {
  std::cerr << "a query failed: " << what << "\n";
  std::_Exit(1);
}

// Returns the query with another start for each `i`: the server searches once for equal queries of a message.
v1::FindPathRequest Moved(v1::FindPathRequest query, int i) {
  v1::Cell& start = *query.mutable_start()->mutable_cell();
  start.set_y(start.y() + i % 20);
  v1::Cell& goal = *query.mutable_goals(0)->mutable_cell();
  goal.set_y(goal.y() + i / 20 % 20);
  return query;
}

std::chrono::nanoseconds SearchTimeOf(const v1::FindPathResponse& answer) {
  const google::protobuf::Duration& search = answer.statistics().search_time();
  return std::chrono::seconds(search.seconds()) + std::chrono::nanoseconds(search.nanos());
}

std::chrono::nanoseconds RunStream(v1::PathService::Stub& stub, const v1::FindPathRequest& query,
                                   const StreamLoad& load, int queries) {
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
  std::chrono::nanoseconds searching{0};
  while (answered < queries) {
    while (sent < queries && sent - answered <= window - load.queries_per_message) {
      if (!stream->Write(message)) {
        Fail(stream->Finish().error_message());
      }
      sent += load.queries_per_message;
    }
    if (!stream->Read(&answers)) {
      Fail(stream->Finish().error_message());
    }
    for (const v1::StreamedAnswer& answer : answers.answers()) {
      if (answer.has_problem()) {
        Fail(answer.problem().message());
      }
      searching += SearchTimeOf(answer.answer());
    }
    answered += answers.answers_size();
  }
  stream->WritesDone();
  stream->Finish();
  return searching;
}

std::chrono::nanoseconds RunTogether(int threads, const std::function<std::chrono::nanoseconds()>& run) {
  std::atomic<std::int64_t> nanos = 0;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] { nanos += run().count(); });
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  return std::chrono::nanoseconds(nanos);
}

std::unique_ptr<v1::PathService::Stub> Connect(int port) {
  return v1::PathService::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
}

// Sends the query, moved down by a row up to 20 times, again and again by PathService.StreamFindPath at
// 127.0.0.1:port, and returns once all are answered, with what the answers say that their searches took
// together. Ends the program if one fails.
std::chrono::nanoseconds RunStreamLoop(int port, const v1::FindPathRequest& request, const StreamLoad& load) {
  const auto stub = Connect(port);
  return RunTogether(load.streams,
                     [&] { return RunStream(*stub, request, load, load.queries / load.streams); });
}

// Likewise by FindPaths: `calls` calls of so many queries each, 8 at a time.
std::chrono::nanoseconds RunBatchLoop(int port, const v1::FindPathRequest& request, int queries_per_call,
                                      int calls) {
  const auto stub = Connect(port);
  v1::FindPathsRequest batch;
  batch.set_map(request.map());
  for (int i = 0; i < queries_per_call; ++i) {
    *batch.add_queries() = Moved(request, i);
  }
  std::atomic<int> left = calls;
  return RunTogether(kBatchThreads, [&] {
    std::chrono::nanoseconds searching{0};
    while (left.fetch_sub(1) > 0) {
      grpc::ClientContext context;
      v1::FindPathsResponse response;
      if (const grpc::Status status = stub->FindPaths(&context, batch, &response); !status.ok()) {
        Fail(status.error_message());
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
