#include <grpcpp/client_context.h>
#include <grpcpp/support/async_unary_call.h>

#include <memory>

#include "absl/time/time.h"
#include "client/batch.h"
#include "client/errors.h"
#include "client/load/exchange.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::load {
namespace {

// Compose and account for a FindPath or a FindPaths. `scratch` is reused.

const v1::FindPathRequest& Compose(const Workload& workload, int /*queries*/, Workload::Random& random,
                                   v1::FindPathRequest& /*scratch*/) {
  return Workload::PickQuery(workload.PickPart(random), random);
}

const v1::FindPathsRequest& Compose(const Workload& workload, int queries, Workload::Random& random,
                                    v1::FindPathsRequest& scratch) {
  const auto& part = workload.PickPart(random);
  scratch.Clear();
  client::ShareFields(part.front(), scratch);
  for (int i = 0; i < queries; ++i) {
    client::AddEnds(Workload::PickQuery(part, random), scratch);
  }
  return scratch;
}

void Tell(const v1::FindPathResponse& response, int /*queries*/, Time due, Listener& listener) {
  listener.OnAnswered(due, response.outcome() == v1::OUTCOME_FOUND);
}

void Tell(const v1::FindPathsResponse& response, int queries, Time due, Listener& listener) {
  for (const v1::FindPathsResult& result : response.results()) {
    if (result.has_problem()) {
      listener.OnFailed(due, client::FromMessage(result.problem()), 1);
    } else {
      listener.OnAnswered(due, result.answer().outcome() == v1::OUTCOME_FOUND);
    }
  }
  if (response.results_size() < queries) {
    listener.OnFailed(due, absl::DataLossError("the server left answers out"),
                      static_cast<std::uint64_t>(queries - response.results_size()));
  }
}

template <typename Request, typename Response>
class CallExchange final : public Exchange {
 public:
  using Method = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (v1::PathService::Stub::*)(
      grpc::ClientContext*, const Request&, grpc::CompletionQueue*);

  CallExchange(const Wire& wire, const std::shared_ptr<grpc::Channel>& channel, Method method)
      : wire_(wire),
        stub_(v1::PathService::NewStub(channel)),
        method_(method),
        queries_(wire.settings.per_message) {}

  void Send(Time due) override {
    auto* const call = new Call;
    call->on_end = [this, call, due](bool /*ok*/) { OnEnd(call, due); };
    wire_.connection.Prepare(call->context, absl::FromChrono(wire_.settings.deadline));
    const Request& request = Compose(wire_.workload, queries_, wire_.random, scratch_);
    call->reader = (*stub_.*method_)(&call->context, request, &wire_.queue);
    wire_.listener.OnHandOver();
    call->reader->Finish(&call->response, &call->status, &call->on_end);
  }

  // Calls end at their deadlines.
  void Close() override {}

 private:
  struct Call {
    Event on_end;
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
    Response response;
    grpc::Status status;
  };

  void OnEnd(Call* call, Time due) {
    ended_.reset(call);
    if (call->status.ok()) {
      Tell(call->response, queries_, due, wire_.listener);
    } else {
      wire_.listener.OnFailed(due, client::FromGrpc(call->status), static_cast<std::uint64_t>(queries_));
    }
    wire_.listener.OnMessageDone();
  }

  const Wire wire_;
  const std::unique_ptr<v1::PathService::Stub> stub_;
  const Method method_;
  const int queries_;
  // Used by Send alone.
  Request scratch_;
  // The call that ended last: its event, which is running, cannot delete it.
  std::unique_ptr<Call> ended_;
};

}  // namespace

std::unique_ptr<Exchange> MakeCallExchange(const Wire& wire, const std::shared_ptr<grpc::Channel>& channel) {
  if (wire.settings.mode == Mode::kBatch) {
    return std::make_unique<CallExchange<v1::FindPathsRequest, v1::FindPathsResponse>>(
        wire, channel, &v1::PathService::Stub::AsyncFindPaths);
  }
  return std::make_unique<CallExchange<v1::FindPathRequest, v1::FindPathResponse>>(
      wire, channel, &v1::PathService::Stub::AsyncFindPath);
}

}  // namespace waystar::load
