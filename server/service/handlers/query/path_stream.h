// Reactor of one StreamFindPath call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/arena.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/service/admission/arrival_pause.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/query_costs.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/streaming_call.h"
#include "server/service/call/unary_call.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

inline constexpr int kMaxQueriesOfMessage = 1000;

struct PathStreamLimits {
  // Limit on the unanswered messages. At least 1.
  std::size_t max_unanswered = 256;
  // The next message is read while those messages and the unwritten answers take fewer bytes than this in
  // total; a written message takes at most that many. At least 1.
  std::size_t max_bytes = 4 << 20;
};

// Reads one message at a time, while the queries of earlier messages are answered, each on its lane: the
// small ones of a message in order on the thread that read it, the others on workers, in turns with other
// calls. Answers gathered during one write form the next message. On the reading thread, answers also wait
// for those to messages that arrived together: each written message is a system call, and costs more than an
// answer.
//
// The rules of StreamingCall hold; each unanswered message, and the gathering of answers, is a pending
// operation.
class PathStream final : public ReadingWritingCall {
 public:
  using Handler = UnaryHandler<v1::FindPathRequest, v1::FindPathResponse>;

  // `find_path` answers a query, for which `costs` selects the lane. The referenced objects must outlive the
  // call.
  PathStream(const ServerContext& server, const Handler& find_path, QueryCosts& costs,
             grpc::CallbackServerContext& rpc, const PathStreamLimits& limits)
      : ReadingWritingCall(Kind::kOpenEnded, server, rpc, server.statistics.Of<v1::StreamFindPathRequest>()),
        find_path_(find_path),
        costs_(costs),
        limits_(limits),
        deadline_(CallHead(rpc).Deadline()) {}

 private:
  friend NextTurn<PathStream>;

  // A message, from its read until its queries are answered.
  struct Batch {
    Batch(const grpc::ByteBuffer& bytes, CallMemory& all, const CallHead& head)
        : length(bytes.Length()), memory(all, head) {}

    // Fits the messages of about ten queries, so that they allocate no other memory.
    static google::protobuf::ArenaOptions Options() {
      google::protobuf::ArenaOptions options;
      options.start_block_size = 16 << 10;
      options.max_block_size = 64 << 10;
      return options;
    }

    const std::size_t length;
    CallMemory::Share memory;
    const Executor::Clock::time_point arrived = Executor::Clock::now();
    google::protobuf::Arena arena{Options()};
    v1::StreamFindPathRequest& request = *v1::StreamFindPathRequest::default_instance().New(&arena);
    // Counts the unfinished jobs, and the thread that reads the message.
    std::atomic<int> parts = 1;
  };

  // Job that answers some queries of a message.
  class QueriesJob;

  // An answer under construction.
  struct Draft;

  // Gathers answers until they are to be written.
  class Gatherer;

  using Queries = std::vector<const v1::StreamedQuery*>;

  absl::Status Admit() override;
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsIdle() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnReadDone(bool ok) override;

  // Decides whether gathered answers wait for more.
  void OnNextTurn();
  // Answers small queries and hands the rest to workers. An error is one of the stream.
  absl::Status Take(const grpc::ByteBuffer& bytes, Batch& batch);
  // Hand queries to workers: to all of them, or to one.
  void Spread(Batch& batch, const Queries& queries, Lane lane);
  void HandOver(Batch& batch, Queries queries, Lane lane);
  void Submit(QueriesJob* job, const v1::FindPathRequest& first, Lane lane);
  // Answers at `now`. Returns false, and `draft` must be ignored, if the query must restart on the next lane.
  bool Answer(const Batch& batch, const v1::StreamedQuery& query, Lane lane, Workbench& bench,
              Executor::Clock::time_point now, Draft& draft);
  // Return true if nobody wants more answers, and if there is no room for more unread answers.
  bool IsGone();
  bool IsFull();
  // Adds a serialized message of answers.
  void Add(const grpc::ByteBuffer& answers);
  // Ends a part; after the last one, the message is answered. An error ends the stream.
  void FinishPart(Batch* batch, const absl::Status& status);

  // Counts the unwritten answers.
  void CountUnread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Handler& find_path_;
  QueryCosts& costs_;
  const PathStreamLimits limits_;
  MethodStatistics& requests_ = server_.statistics.RequestsIn<v1::StreamFindPathRequest>();
  const Executor::Clock::time_point deadline_;
  // Set once it is admitted.
  std::uint64_t client_ = 0;
  NextTurn<PathStream> next_turn_{*this};

  std::size_t unanswered_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t unanswered_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Messages of answers to be written; a concatenation of them is a message too.
  std::deque<grpc::ByteBuffer> answers_ ABSL_GUARDED_BY(mutex_);
  std::size_t answers_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  CallMemory::Share answers_memory_ ABSL_GUARDED_BY(mutex_){server_.memory, rpc_};
  // True if the unwritten answers exceed the memory limit.
  bool is_budget_spent_ ABSL_GUARDED_BY(mutex_) = false;
  // True if answers wait for those to messages being read; next_turn_ has been or is about to be requested.
  bool is_gathering_ ABSL_GUARDED_BY(mutex_) = false;
  Executor::Clock::time_point gathering_since_ ABSL_GUARDED_BY(mutex_);
  // True if a message was read since next_turn_ was requested.
  bool has_read_more_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::rpc
