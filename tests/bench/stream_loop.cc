#include "tests/bench/stream_loop.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::bench {
namespace {

constexpr int kBatchThreads = 8;

[[noreturn]] void Fail(const std::string& what) {
  std::cerr << "a query failed: " << what << "\n";
  std::_Exit(1);
}

// What is asked twice would be searched for once.
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

}  // namespace

std::chrono::nanoseconds RunStreamLoop(int port, const v1::FindPathRequest& request, const StreamLoad& load) {
  const auto stub = Connect(port);
  return RunTogether(load.streams,
                     [&] { return RunStream(*stub, request, load, load.queries / load.streams); });
}

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

}  // namespace waystar::bench
