#include <grpcpp/client_context.h>
#include <grpcpp/support/async_unary_call.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

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

  CallExchange(const Wire& wire, Method method)
      : wire_(wire),
        method_(method),
        queries_(wire.settings.per_message),
        deadline_(absl::FromChrono(wire.settings.deadline)),
        random_(wire.seed) {
    for (const auto& channel : wire.channels) {
      stubs_.push_back(v1::PathService::NewStub(channel));
    }
  }

  void Send(Time due) override {
    Slot& slot = TakeSlot();
    slot.due = due;
    slot.context.emplace();
    wire_.connection.Prepare(*slot.context, deadline_);
    const Request& request = Compose(wire_.workload, queries_, random_, scratch_);
    slot.reader = (*stubs_[next_stub_].*method_)(&*slot.context, request, &wire_.queue);
    next_stub_ = (next_stub_ + 1) % stubs_.size();
    wire_.listener.OnHandOver();
    slot.reader->Finish(&slot.response, &slot.status, &slot);
  }

  // Calls end at their deadlines.
  void Close() override {}

 private:
  struct Slot final : Event {
    explicit Slot(CallExchange& owner) : exchange(owner) {}
    void Proceed(bool /*ok*/) override { exchange.OnEnd(*this); }

    CallExchange& exchange;
    Time due;
    std::optional<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
    Response response;
    grpc::Status status;
  };

  Slot& TakeSlot() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) {
      return slots_.emplace_back(*this);
    }
    Slot& slot = *free_.back();
    free_.pop_back();
    return slot;
  }

  void OnEnd(Slot& slot) {
    if (slot.status.ok()) {
      Tell(slot.response, queries_, slot.due, wire_.listener);
    } else {
      wire_.listener.OnFailed(slot.due, client::FromGrpc(slot.status), static_cast<std::uint64_t>(queries_));
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      free_.push_back(&slot);
    }
    wire_.listener.OnMessageDone();
  }

  const Wire wire_;
  const Method method_;
  const int queries_;
  const absl::Duration deadline_;
  std::vector<std::unique_ptr<v1::PathService::Stub>> stubs_;
  // Used by the sending thread only.
  std::size_t next_stub_ = 0;
  Workload::Random random_;
  Request scratch_;
  std::mutex mutex_;
  // Guarded by mutex_: the containers, not the slots that are taken.
  std::deque<Slot> slots_;
  std::vector<Slot*> free_;
};

}  // namespace

std::unique_ptr<Exchange> MakeCallExchange(const Wire& wire) {
  if (wire.settings.mode == Mode::kBatch) {
    return std::make_unique<CallExchange<v1::FindPathsRequest, v1::FindPathsResponse>>(
        wire, &v1::PathService::Stub::AsyncFindPaths);
  }
  return std::make_unique<CallExchange<v1::FindPathRequest, v1::FindPathResponse>>(
      wire, &v1::PathService::Stub::AsyncFindPath);
}

}  // namespace waystar::load
