#include "tests/bench/closed_loop.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/create_channel.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Call {
  std::unique_ptr<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::FindPathResponse>> reader;
  v1::FindPathResponse response;
  grpc::Status status;
  Clock::time_point begin;
};

}  // namespace

LoopResult RunClosedLoop(int port, const v1::FindPathRequest& request, int in_flight, int calls) {
  const auto stub = v1::PathService::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  grpc::CompletionQueue queue;
  const auto start = [&](Call& call) {
    call.context = std::make_unique<grpc::ClientContext>();
    call.begin = Clock::now();
    call.reader = stub->AsyncFindPath(call.context.get(), request, &queue);
    call.reader->Finish(&call.response, &call.status, &call);
  };

  LoopResult result;
  std::vector<Call> slots(static_cast<std::size_t>(in_flight));
  const Clock::time_point begin = Clock::now();
  for (Call& call : slots) {
    start(call);
  }
  int started = in_flight;
  for (int finished = 0; finished < calls; ++finished) {
    void* tag = nullptr;
    bool ok = false;
    if (!queue.Next(&tag, &ok)) {
      break;
    }
    Call& call = *static_cast<Call*>(tag);
    if (!call.status.ok()) {
      Die("a call failed: " + call.status.error_message());
    }
    result.latency_micros.Add(std::chrono::duration<double, std::micro>(Clock::now() - call.begin).count());
    const google::protobuf::Duration& search = call.response.info().statistics().search_time();
    result.search_micros.Add(static_cast<double>(search.seconds()) * 1e6 + search.nanos() / 1000.0);
    if (started < calls) {
      start(call);
      ++started;
    }
  }
  result.elapsed = Clock::now() - begin;
  return result;
}

}  // namespace waystar::bench
