// A unary call: parses the request, waits for a worker, handles the request and answers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/arena.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/error.h"
#include "server/core/edit/edit_work.h"
#include "server/core/store/store_listener.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/server_context.h"
#include "server/service/admission/version_waits.h"
#include "server/service/auth/caller.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/call_context.h"
#include "server/service/call/direct_methods.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/status.h"

namespace waystar::rpc {

using UnaryDone = absl::AnyInvocable<void(const absl::Status&) &&>;

// Returns the map of a request, or an empty string if it has none.
template <typename Request>
absl::string_view MapOf(const Request& request) {
  if constexpr (requires { request.map(); }) {
    return request.map();
  } else {
    return "";
  }
}

// Fills the response and returns OK, or returns an error with the offending field. Runs on a worker.
template <typename Request, typename Response>
using UnaryHandler = std::function<absl::Status(const Request&, Response&, CallContext&)>;

// Handler that answers asynchronously: calls `done` once, on any thread, and does not use the call
// afterwards. The context is destroyed when the handler returns.
template <typename Request, typename Response>
using AsyncUnaryHandler = std::function<void(const Request&, Response&, CallContext&, UnaryDone done)>;

// Planner of calls that always start on one lane.
struct FixedLane {
  template <typename Request>
  Lane LaneOf(const Request& /*request*/) const {
    return lane;
  }
  template <typename Request>
  void Note(const Request& /*request*/, std::chrono::nanoseconds /*took*/) const {}

  Lane lane;
};
inline constexpr FixedLane kSmallCall{Lane::kSmall};
inline constexpr FixedLane kLargeCall{Lane::kLarge};

// Takes the raw bytes of the request, because the RPC library answers a request that cannot be parsed with
// INTERNAL and no message.
//
// Two threads may use a call: its owner's, which begins and may cancel it, and the one that runs it or
// answers it later. The last action of the latter is `end`, or handing the call to the next lane or to
// VersionWaits; it does not use the call afterwards. While a call waits for a version, VersionWaits decides
// which thread continues it.
template <typename Request, typename Response, typename Handler = UnaryHandler<Request, Response>,
          typename Planner = const FixedLane>
class UnaryCall final : private Executor::Job, private VersionWaits::Waiter {
 public:
  // Ends the call. It is called once, last, on any thread.
  using End = std::function<void(const grpc::Status& status)>;

  // `planner` selects the first lane, and is given the call's cost. The referenced objects must outlive the
  // call.
  UnaryCall(const ServerContext& server, const Handler& handler, Planner& planner, const CallHead& head,
            grpc::ByteBuffer& answer, End end)
      : server_(server),
        handler_(handler),
        planner_(planner),
        head_(head),
        deadline_(head.Deadline()),
        answer_bytes_(answer),
        end_(std::move(end)) {}
  UnaryCall(const UnaryCall&) = delete;
  UnaryCall& operator=(const UnaryCall&) = delete;

  // Answers the request. Call it once.
  void Begin(const grpc::ByteBuffer& request) {
    absl::Status status;
    Lane lane = Lane::kSmall;
    try {
      status = Enter(request);
      lane = status.ok() ? planner_.LaneOf(*request_) : lane;
    } catch (const std::bad_alloc&) {
      status = core::SystemMemoryFull();
    }
    if (!status.ok()) {
      Finish(ToGrpcStatus(status));
      return;
    }
    bool needs_newest = false;
    if constexpr (requires { request_->latest_of_cluster(); }) {
      needs_newest = request_->latest_of_cluster() && server_.fleet.is_fleet();
    }
    if (needs_newest) {
      lane_ = lane;
      AskFleet(absl::OkStatus());
    } else {
      BeginAt(lane);
    }
  }

  // Makes the call end soon. Does nothing once it has ended.
  void Cancel() {
    cancelled_.store(true);
    server_.version_waits.Cancel(*this);
  }

  // Gives back what belongs to the server. Call it once, after the end.
  void Release() {
    memory_.Release();
    if (client_) {
      server_.client_calls.Leave(*client_);
    }
    if (is_inside_) {
      server_.gate.Leave();
    }
  }

  Executor::Clock::time_point arrived() const { return counted_.begin(); }

 private:
  // Fits the messages of a call with a path of a few hundred points, so that it allocates no other memory.
  static constexpr std::size_t kArenaBytes = 4096;
  // Retry delay of a call for the fleet's latest version, which the server does not have yet.
  static constexpr absl::Duration kUntilItIsThere = absl::Milliseconds(50);

  static google::protobuf::ArenaOptions ArenaOver(char* block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block;
    options.initial_block_size = kArenaBytes;
    options.max_block_size = 64 << 10;
    return options;
  }

  // Enters the gate, identifies the caller, parses the request and checks that the caller may make it.
  absl::Status Enter(const grpc::ByteBuffer& request) {
    WAYSTAR_RETURN_IF_ERROR(server_.gate.Enter());
    is_inside_ = true;
    WAYSTAR_ASSIGN_OR_RETURN(caller_, server_.access.Identify(head_));
    WAYSTAR_RETURN_IF_ERROR(server_.memory.CheckConnection(head_));
    WAYSTAR_RETURN_IF_ERROR(ParseRequest(request, *request_, memory_));
    return CheckAccess(caller_, *request_);
  }

  // Returns true if the request names a version of a map that does not exist here: the fleet may have it.
  bool MissesNamedVersion(const absl::Status& status) const {
    if constexpr (requires { request_->view().has_least_version(); }) {
      return !has_asked_fleet_ && server_.fleet.is_fleet() && request_->view().has_least_version() &&
             ErrorReasonOf(status) == ErrorReasonName(ErrorReason::kMapNotFound);
    }
    return false;
  }

  // Starts the call once the server has the newest version of its map in the fleet. If that fails, the call
  // ends with `otherwise` or, if that is OK, with the cause.
  void AskFleet(const absl::Status& otherwise) {
    has_asked_fleet_ = true;
    await_begin_ = Executor::Clock::now();
    if (const absl::Status status = CountFor(flow().client); !status.ok()) {
      Finish(ToGrpcStatus(status));
      return;
    }
    server_.fleet.Newest(MapOf(*request_), [this, otherwise](const absl::StatusOr<std::int64_t>& revision) {
      absl::Status status = revision.status();
      if (status.ok()) {
        refusal_ = otherwise;
        if (otherwise.ok()) {
          refusal_ = WithField(Refusal(ErrorReason::kRevisionNotYet, kUntilItIsThere,
                                       "this server does not have the fleet's latest version of the map yet"),
                               "latest_of_cluster");
        }
        status = server_.version_waits.BeginFollowing(*this, HolderOf(caller_, head_), *revision,
                                                      LatestEndOfWait(), cancelled_);
      }
      if (!status.ok()) {
        Finish(ToGrpcStatus(otherwise.ok() ? status : otherwise));
      }
    });
  }

  Executor::Clock::time_point LatestEndOfWait() const {
    return std::min(deadline_, counted_.begin() + VersionWaits::kMostWait);
  }

  void BeginAt(Lane lane) {
    if (lane == Lane::kHere) {
      if (const Executor::Lease bench = server_.executor.LeaseHere()) {
        RunAt(Lane::kHere, *bench);
        return;
      }
      lane = Lane::kSmall;
    }
    lane_ = lane;
    runtime::Flow queue = flow();
    absl::Status status = CountFor(queue.client);
    if (lane == Lane::kImports) {
      // A program may use a new connection for each import.
      queue = {.client = HolderOf(caller_, head_)};
    }
    if (status.ok()) {
      status = server_.executor.Submit(lane, this, queue, deadline_);
    }
    if (!status.ok()) {
      Finish(ToGrpcStatus(status));
    }
  }

  absl::Status CountFor(std::uint64_t client) {
    if (!client_) {
      WAYSTAR_RETURN_IF_ERROR(server_.client_calls.Enter(client));
      client_ = client;
    }
    return absl::OkStatus();
  }

  runtime::Flow flow() const { return FlowOf(caller_, head_, MapOf(*request_)); }

  void Run(int worker) override { RunAt(lane_, server_.executor.bench(worker)); }
  void Refuse(const absl::Status& status) override { Finish(ToGrpcStatus(status)); }

  void RunAt(Lane lane, Workbench& bench) {
    const Executor::Clock::time_point begin = Executor::Clock::now();
    if (const absl::Status status = CheckStillWanted(begin); !status.ok()) {
      Finish(ToGrpcStatus(status));
      return;
    }
    core::Upkeep upkeep(MaxUpkeepOn(lane));
    CallContext context{.bench = bench,
                        .caller = caller_,
                        .budget = {.deadline = deadline_,
                                   .cancelled = &cancelled_,
                                   .upkeep = lane == Lane::kLarge ? nullptr : &upkeep},
                        .queued = begin - counted_.begin() - awaited_,
                        .begin = begin,
                        .staleness = server_.fleet.QuietFor(begin),
                        .max_expansions_here = MaxExpansionsOn(lane),
                        .head = head_};
    std::optional<WorkerCrew> crew;
    if (lane == Lane::kLarge) {
      context.crew = &crew.emplace(server_.executor, lane, flow(), bench);
    }
    response_ = Response::default_instance().New(&arena_);
    context.written = &written_.emplace(*response_);
    if constexpr (std::is_same_v<Handler, UnaryHandler<Request, Response>>) {
      const std::chrono::nanoseconds cost_begin = CostClock(lane);
      const absl::Status status =
          RunWithinMemory(bench, [&] { return handler_(*request_, *response_, context); });
      if (context.NeedsLargerLane()) {
        BeginAt(lane == Lane::kHere ? Lane::kSmall : Lane::kLarge);
        return;
      }
      if (context.awaited_version) {
        Await(MapOf(*request_), *context.awaited_version, status);
        return;
      }
      if (!context.missing_map.ok()) {
        Answer(context.missing_map);
        return;
      }
      planner_.Note(*request_, CostClock(lane) - cost_begin +
                                   (crew ? crew->helpers_time() : std::chrono::nanoseconds(0)));
      Answer(status);
    } else {
      handler_(*request_, *response_, context, [this](const absl::Status& status) { Answer(status); });
    }
  }

  // Restarts the call once the map has that version or, if its epoch is 0, is in memory; otherwise rejects
  // it.
  void Await(absl::string_view map, const core::MapVersion& version, const absl::Status& refusal) {
    const Executor::Clock::time_point until = LatestEndOfWait();
    await_begin_ = Executor::Clock::now();
    absl::Status status = await_begin_ < until ? CountFor(flow().client) : refusal;
    if (status.ok()) {
      refusal_ = refusal;
      status = server_.version_waits.Begin(*this, HolderOf(caller_, head_), map, version, until, cancelled_);
      if (status.ok()) {
        return;
      }
    }
    Finish(ToGrpcStatus(status));
  }
  void OnVersion() override {
    awaited_ += Executor::Clock::now() - await_begin_;
    BeginAt(lane_);
  }
  void OnNoVersion() override {
    Finish(ToGrpcStatus(cancelled_.load(std::memory_order_relaxed) ? CancelledError() : refusal_));
  }

  absl::Status CheckStillWanted(Executor::Clock::time_point now) const {
    if (cancelled_.load(std::memory_order_relaxed)) {
      return CancelledError();
    }
    if (now >= deadline_) {
      return MakeError(ErrorReason::kDeadlineExceeded, "",
                       "the deadline passed while the call waited for a worker");
    }
    return absl::OkStatus();
  }

  void Answer(const absl::Status& status) {
    if (!status.ok()) {
      if (const std::string loading = core::LoadingMapOf(status); !loading.empty()) {
        Await(loading, {}, status);
      } else if (MissesNamedVersion(status)) {
        AskFleet(status);
      } else {
        Finish(ToGrpcStatus(status));
      }
      return;
    }
    grpc::Status end;
    if (!written_->empty()) {
      grpc::ByteBuffer bytes = written_->ToBytes();
      answer_bytes_.Swap(&bytes);
    } else {
      bool owned = false;
      end = grpc::GenericSerialize<grpc::ProtoBufferWriter, Response>(*response_, &answer_bytes_, &owned);
    }
    const bool is_large = answer_bytes_.Length() >= CallMemory::kCountedBytes || memory_.bytes() > 0;
    if (end.ok() && is_large) {
      // The library keeps the call, with the answer's bytes, until the client has read it.
      arena_.Reset();
      end = ToGrpcStatus(memory_.Resize(answer_bytes_.Length()));
      if (!end.ok()) {
        answer_bytes_.Clear();
      }
    }
    Finish(end);
  }

  // Ends the call, as the last action. It is counted before the client has its answer.
  void Finish(const grpc::Status& status) {
    if (!status.ok() && memory_.bytes() > 0) {
      arena_.Reset();
      memory_.Release();
    }
    counted_.End(static_cast<absl::StatusCode>(status.error_code()));
    end_(status);
  }

  const ServerContext& server_;
  const Handler& handler_;
  Planner& planner_;
  const CallHead head_;
  // Counts from arrival.
  CountedCall counted_{server_.statistics.Of<Request>()};
  const Executor::Clock::time_point deadline_;
  grpc::ByteBuffer& answer_bytes_;
  const End end_;
  bool is_inside_ = false;
  Caller caller_ = Caller::Anyone();
  // Client whose calls this one counts towards.
  std::optional<std::uint64_t> client_;
  Lane lane_ = Lane::kSmall;
  std::atomic<bool> cancelled_ = false;
  // When the call began to wait for a version of its map, and its total waiting time for versions.
  Executor::Clock::time_point await_begin_;
  std::chrono::nanoseconds awaited_{0};
  bool has_asked_fleet_ = false;
  // Error of the call if the version does not arrive.
  absl::Status refusal_;
  CallMemory::Share memory_{server_.memory, head_};
  alignas(std::max_align_t) char arena_block_[kArenaBytes];
  google::protobuf::Arena arena_{ArenaOver(arena_block_)};
  Request* const request_ = Request::default_instance().New(&arena_);
  Response* response_ = nullptr;
  std::optional<WrittenMessage> written_;
};

// Makes a call on behalf of the RPC library, which owns it until it is done with it.
template <typename Call>
class UnaryReactor final : public grpc::ServerUnaryReactor {
 public:
  template <typename Handler, typename Planner>
  static grpc::ServerUnaryReactor* Start(const ServerContext& server, const Handler& handler,
                                         Planner& planner, grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* answer) {
    auto* const reactor = new UnaryReactor(server, handler, planner, *context, *answer);
    const Executor::Clock::time_point arrived = reactor->call_.arrived();
    reactor->call_.Begin(*request);
    server.executor.AfterCall(arrived, context->c_call());
    return reactor;
  }

 private:
  template <typename Handler, typename Planner>
  UnaryReactor(const ServerContext& server, const Handler& handler, Planner& planner, const CallHead& head,
               grpc::ByteBuffer& answer)
      : call_(server, handler, planner, head, answer,
              [this](const grpc::Status& status) { this->Finish(status); }) {}

  // Runs callbacks on the thread of the event: by default OnDone would wake a separate thread for each call,
  // which costs some microseconds, and the callbacks are short.
  bool InternalInlineable() override { return true; }
  void OnCancel() override { call_.Cancel(); }
  void OnDone() override {
    call_.Release();
    delete this;
  }

  Call call_;
};

// Makes a call on behalf of the caller of a DirectMethod. It keeps itself until it ends.
template <typename Call>
class DirectUnaryCall final {
 public:
  template <typename Handler, typename Planner>
  static std::function<void()> Start(const ServerContext& server, const Handler& handler, Planner& planner,
                                     HttpHead head, const grpc::ByteBuffer& request, DirectDone done) {
    auto direct = std::shared_ptr<DirectUnaryCall>(
        new DirectUnaryCall(server, handler, planner, std::move(head), std::move(done)));
    direct->self_ = direct;
    direct->call_.Begin(request);
    return [direct] { direct->call_.Cancel(); };
  }

 private:
  template <typename Handler, typename Planner>
  DirectUnaryCall(const ServerContext& server, const Handler& handler, Planner& planner, HttpHead head,
                  DirectDone done)
      : head_(std::move(head)),
        done_(std::move(done)),
        call_(server, handler, planner, head_, answer_,
              [this](const grpc::Status& status) { this->End(status); }) {}

  void End(const grpc::Status& status) {
    // Its owner waits until it is destroyed, and may then destroy the server: so it is destroyed last.
    const DirectDone done = std::move(done_);
    const std::shared_ptr<DirectUnaryCall> last = std::move(self_);
    done(status, answer_);
    call_.Release();
  }

  const HttpHead head_;
  DirectDone done_;
  grpc::ByteBuffer answer_;
  // Set until the call ends.
  std::shared_ptr<DirectUnaryCall> self_;
  Call call_;
};

}  // namespace waystar::rpc
