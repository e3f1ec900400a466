// StreamCheckMoves: batches of moves, judged one after the other.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/call_context.h"
#include "server/service/call/streaming_call.h"
#include "server/service/call/unary_call.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

using MoveChecker = UnaryHandler<v1::CheckMovesRequest, v1::CheckMovesResponse>;

// Reads a message once the answer to the one before is written, and judges its moves on a large worker.
//
// The rules of StreamingCall hold.
class MoveStream final : public ReadingWritingCall {
 public:
  // The referenced objects must outlive the call.
  MoveStream(const ServerContext& server, const MoveChecker& check, grpc::CallbackServerContext& rpc)
      : ReadingWritingCall(Kind::kOpenEnded, server, rpc,
                           server.statistics.Of<v1::StreamCheckMovesRequest>()),
        check_(check) {}

 private:
  absl::Status Admit() override;
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnReadDone(bool ok) override;
  void RunJob(int worker) override;
  void OnJobRefused(const absl::Status& why) override;

  // Judges the moves of the last message read. An error is one of these moves.
  absl::Status Judge(const v1::CheckMovesRequest& moves, Workbench& bench, v1::CheckMovesResponse& answer);
  // Writes the answer to that message.
  void Answer(const absl::Status& status, v1::StreamCheckMovesResponse answer);

  const MoveChecker& check_;
  MethodStatistics& requests_ = server_.statistics.RequestsIn<v1::StreamCheckMovesRequest>();
  // Set once it is admitted.
  runtime::Flow flow_;
  // Arrival time of the message.
  Executor::Clock::time_point arrived_;
  // Number of messages answered.
  std::uint64_t answered_ = 0;
};

}  // namespace waystar::rpc
