// The life of one StreamFindPath.
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
#include "server/rpc/admission/executor.h"
#include "server/rpc/admission/next_turn.h"
#include "server/rpc/admission/query_costs.h"
#include "server/rpc/admission/server_context.h"
#include "server/rpc/call/streaming_call.h"
#include "server/rpc/call/unary_call.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

inline constexpr int kMaxQueriesOfMessage = 1000;

struct PathStreamLimits {
  // Messages that may be read and not answered yet. At least 1.
  std::size_t max_unanswered = 256;
  // The next message is read while those messages, and the answers that are not written, take fewer bytes
  // than this together; a written message takes at most that many. At least 1.
  std::size_t max_bytes = 4 << 20;
};

// One message at a time is read; meanwhile the queries of those before it are answered, each on its lane: the
// small ones of a message one after the other where it was read, the others on workers, in turns with what
// else waits for them. Whoever has answers adds them to those that are to be written, and what has gathered
// while one message was written is the next. Where a message was read the answers also wait for those to the
// messages that have arrived along with it: each message written is a call of the system's, and costs more
// than an answer.
//
// The rules of StreamingCall hold; on its way is each message until its last query is answered, and what is
// being gathered.
class PathStream final : public ReadingWritingCall {
 public:
  using Handler = UnaryHandler<v1::FindPathRequest, v1::FindPathResponse>;

  // `find_path` answers a query, whose lane `costs` knows. What the references name must outlive the call.
  PathStream(const ServerContext& server, const Handler& find_path, QueryCosts& costs,
             grpc::CallbackServerContext& rpc, const PathStreamLimits& limits)
      : ReadingWritingCall(Kind::kOpenEnded, server, rpc, server.statistics.Of<v1::StreamFindPathRequest>()),
        find_path_(find_path),
        costs_(costs),
        limits_(limits),
        deadline_(DeadlineOf(rpc)) {}

 private:
  friend NextTurn<PathStream>;

  // A message, from when it was read until its queries are answered.
  struct Batch {
    explicit Batch(const grpc::ByteBuffer& bytes) : length(bytes.Length()) {}

    // Holds the messages of some ten queries, so that they take no other memory.
    static google::protobuf::ArenaOptions Options() {
      google::protobuf::ArenaOptions options;
      options.start_block_size = 16 << 10;
      options.max_block_size = 64 << 10;
      return options;
    }

    const std::size_t length;
    const Executor::Clock::time_point arrived = Executor::Clock::now();
    google::protobuf::Arena arena{Options()};
    v1::StreamFindPathRequest& request =
        *google::protobuf::Arena::CreateMessage<v1::StreamFindPathRequest>(&arena);
    // Jobs that have not answered yet, and whoever reads the message.
    std::atomic<int> parts = 1;
  };

  // Some queries of a message on their way through the workers.
  class QueriesJob;

  // An answer that is being made.
  struct Draft;

  // Answers on their way to those that are to be written.
  class Gatherer;

  using Queries = std::vector<const v1::StreamedQuery*>;

  absl::Status Admit() override;
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsIdle() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnReadDone(bool ok) override;

  // Decides whether what has gathered is to wait for more.
  void OnNextTurn();
  // Answers what is small and hands the rest to workers. An error is one of the stream.
  absl::Status Take(const grpc::ByteBuffer& bytes, Batch& batch);
  // Hands over to workers: all of them, or one.
  void Spread(Batch& batch, const Queries& queries, Lane lane);
  void HandOver(Batch& batch, Queries queries, Lane lane);
  void Submit(QueriesJob* job, const v1::FindPathRequest& first, Lane lane);
  // At `now`. False, and `draft` is not to be used, if the query has to begin again at the next place.
  bool Answer(const Batch& batch, const v1::StreamedQuery& query, Lane lane, Workbench& bench,
              Executor::Clock::time_point now, Draft& draft);
  // Whether nobody wants more answers, and whether so many are unread that there is no room for more.
  bool IsGone();
  bool IsFull();
  // A message of answers, serialized.
  void Add(const grpc::ByteBuffer& answers);
  // One part less; with the last, the message is no longer unanswered. An error ends the stream.
  void FinishPart(Batch* batch, const absl::Status& status);

  void WriteSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Handler& find_path_;
  QueryCosts& costs_;
  const PathStreamLimits limits_;
  MethodStatistics& requests_ = server_.statistics.RequestsIn<v1::StreamFindPathRequest>();
  const Executor::Clock::time_point deadline_;
  // Once it is admitted.
  std::uint64_t client_ = 0;
  NextTurn<PathStream> next_turn_{*this};

  std::size_t unanswered_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t unanswered_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // To be written: messages of answers, of which several together are one as well.
  std::deque<grpc::ByteBuffer> answers_ ABSL_GUARDED_BY(mutex_);
  std::size_t answers_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Answers wait for those to what is read meanwhile; next_turn_ is asked for, or about to be.
  bool is_gathering_ ABSL_GUARDED_BY(mutex_) = false;
  Executor::Clock::time_point gathering_since_ ABSL_GUARDED_BY(mutex_);
  // Whether a message was read since next_turn_ was asked for.
  bool has_read_more_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::rpc
