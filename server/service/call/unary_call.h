// Reactor of a unary call: parses the request, waits for a worker, handles the request and answers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
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
#include "server/core/store/store_listener.h"
#include "server/service/admission/call_statistics.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/server_context.h"
#include "server/service/admission/version_waits.h"
#include "server/service/auth/caller.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/call_context.h"
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

// The call owns itself until the RPC library is done with it. It takes the raw bytes of the request, because
// the library answers a request that cannot be parsed with INTERNAL and no message.
//
// Two threads may use a call: the library's, which starts and may cancel it, and the one that runs it or
// answers it later. The last action of the latter is Finish, or handing the call to the next lane or to
// VersionWaits; it does not use the call afterwards. While a call waits for a version, VersionWaits decides
// which thread continues it.
template <typename Request, typename Response, typename Handler = UnaryHandler<Request, Response>,
          typename Planner = const FixedLane>
class UnaryCall final : public grpc::ServerUnaryReactor, private Executor::Job, private VersionWaits::Waiter {
 public:
  // `planner` selects the first lane, and is given the call's cost. The referenced objects must outlive the
  // call.
  static grpc::ServerUnaryReactor* Start(const ServerContext& server, const Handler& handler,
                                         Planner& planner, grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
    auto* call = new UnaryCall(server, handler, planner, *context, response);
    const Executor::Clock::time_point arrived = call->counted_.begin();
    if (const absl::Status status = call->Enter(*request); !status.ok()) {
      call->End(ToGrpcStatus(status));
    } else {
      const Lane lane = planner.LaneOf(*call->request_);
      bool needs_newest = false;
      if constexpr (requires { call->request_->latest_of_cluster(); }) {
        needs_newest = call->request_->latest_of_cluster() && server.fleet.is_fleet();
      }
      if (needs_newest) {
        call->lane_ = lane;
        call->AskFleet(absl::OkStatus());
      } else {
        call->BeginAt(lane);
      }
    }
    server.executor.AfterCall(arrived, context->c_call());
    return call;
  }

 private:
  // Fits the messages of a call with a path of a few hundred points, so that it allocates no other memory.
  static constexpr std::size_t kArenaBytes = 4096;
  // Retry delay of a call for the fleet's latest version, which the server does not have yet.
  static constexpr absl::Duration kUntilItIsThere = absl::Milliseconds(50);

  UnaryCall(const ServerContext& server, const Handler& handler, Planner& planner,
            grpc::CallbackServerContext& context, grpc::ByteBuffer* response_bytes)
      : server_(server),
        handler_(handler),
        planner_(planner),
        context_(context),
        deadline_(DeadlineOf(context)),
        response_bytes_(response_bytes) {}

  static google::protobuf::ArenaOptions ArenaOver(char* block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block;
    options.initial_block_size = kArenaBytes;
    options.max_block_size = 64 << 10;
    return options;
  }

  // Runs callbacks on the thread of the event: by default OnDone would wake a separate thread for each call,
  // which costs some microseconds, and the callbacks are short.
  bool InternalInlineable() override { return true; }
  void OnCancel() override {
    cancelled_.store(true);
    server_.version_waits.Cancel(*this);
  }
  void OnDone() override {
    memory_.Release();
    if (client_) {
      server_.client_calls.Leave(*client_);
    }
    if (is_inside_) {
      server_.gate.Leave();
    }
    delete this;
  }

  // Enters the gate, identifies the caller, parses the request and checks that the caller may make it.
  absl::Status Enter(const grpc::ByteBuffer& request) {
    WAYSTAR_RETURN_IF_ERROR(server_.gate.Enter());
    is_inside_ = true;
    WAYSTAR_ASSIGN_OR_RETURN(caller_, server_.access.Identify(context_));
    WAYSTAR_RETURN_IF_ERROR(server_.memory.CheckConnection(context_));
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
      End(ToGrpcStatus(status));
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
        status = server_.version_waits.BeginFollowing(*this, HolderOf(caller_, context_), *revision,
                                                      LatestEndOfWait(), cancelled_);
      }
      if (!status.ok()) {
        End(ToGrpcStatus(otherwise.ok() ? status : otherwise));
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
      queue = {.client = HolderOf(caller_, context_)};
    }
    if (status.ok()) {
      status = server_.executor.Submit(lane, this, queue, deadline_);
    }
    if (!status.ok()) {
      End(ToGrpcStatus(status));
    }
  }

  absl::Status CountFor(std::uint64_t client) {
    if (!client_) {
      WAYSTAR_RETURN_IF_ERROR(server_.client_calls.Enter(client));
      client_ = client;
    }
    return absl::OkStatus();
  }

  runtime::Flow flow() const { return FlowOf(caller_, context_, MapOf(*request_)); }

  void Run(int worker) override { RunAt(lane_, server_.executor.bench(worker)); }
  void Refuse(const absl::Status& status) override { End(ToGrpcStatus(status)); }

  void RunAt(Lane lane, Workbench& bench) {
    const Executor::Clock::time_point begin = Executor::Clock::now();
    if (const absl::Status status = CheckStillWanted(begin); !status.ok()) {
      End(ToGrpcStatus(status));
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
                        .rpc = &context_};
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
      status =
          server_.version_waits.Begin(*this, HolderOf(caller_, context_), map, version, until, cancelled_);
      if (status.ok()) {
        return;
      }
    }
    End(ToGrpcStatus(status));
  }
  void OnVersion() override {
    awaited_ += Executor::Clock::now() - await_begin_;
    BeginAt(lane_);
  }
  void OnNoVersion() override {
    End(ToGrpcStatus(cancelled_.load(std::memory_order_relaxed) ? CancelledError() : refusal_));
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
        End(ToGrpcStatus(status));
      }
      return;
    }
    grpc::Status end;
    if (!written_->empty()) {
      grpc::ByteBuffer bytes = written_->ToBytes();
      response_bytes_->Swap(&bytes);
    } else {
      bool owned = false;
      end = grpc::GenericSerialize<grpc::ProtoBufferWriter, Response>(*response_, response_bytes_, &owned);
    }
    const bool is_large = response_bytes_->Length() >= CallMemory::kCountedBytes || memory_.bytes() > 0;
    if (end.ok() && is_large) {
      // The library keeps the call, with the answer's bytes, until the client has read it.
      arena_.Reset();
      end = ToGrpcStatus(memory_.Resize(response_bytes_->Length()));
      if (!end.ok()) {
        response_bytes_->Clear();
      }
    }
    End(end);
  }

  // Ends the call, as the last action. It is counted before the client has its answer.
  void End(const grpc::Status& status) {
    if (!status.ok() && memory_.bytes() > 0) {
      arena_.Reset();
      memory_.Release();
    }
    counted_.End(static_cast<absl::StatusCode>(status.error_code()));
    Finish(status);
  }

  const ServerContext& server_;
  const Handler& handler_;
  Planner& planner_;
  // Valid until OnDone.
  grpc::CallbackServerContext& context_;
  // Counts from arrival.
  CountedCall counted_{server_.statistics.Of<Request>()};
  const Executor::Clock::time_point deadline_;
  grpc::ByteBuffer* const response_bytes_;
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
  CallMemory::Share memory_{server_.memory, context_};
  alignas(std::max_align_t) char arena_block_[kArenaBytes];
  google::protobuf::Arena arena_{ArenaOver(arena_block_)};
  Request* const request_ = Request::default_instance().New(&arena_);
  Response* response_ = nullptr;
  std::optional<WrittenMessage> written_;
};

}  // namespace waystar::rpc
