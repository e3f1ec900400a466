// The life of one StreamFindPath.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/mutex.h"
#include "server/rpc/access/lasting_caller.h"
#include "server/rpc/call_gate.h"
#include "server/rpc/executor.h"
#include "server/rpc/unary_call.h"
#include "server/runtime/worker_pool.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

struct PathStreamLimits {
  // Messages that may be read and not answered yet. At least 1.
  std::size_t max_unanswered = 256;
  // The next message is read while those messages, and the answers that are not written, take fewer bytes
  // than this together; a written message takes at most that many. At least 1.
  std::size_t max_bytes = 4 << 20;
};

// Owns itself: lives until the RPC library is done with it. One message at a time is read and handed to a
// worker, which answers its queries one after the other; meanwhile the next is read. Whoever has an answer
// adds it to those that are to be written, and what has gathered while one message was written is the next.
//
// The library's threads, workers and whoever stops the server meet here, as in UpdateStream, whose rules are
// those of this: what comes next is decided, and started, under the lock; the call is finished when nothing
// is on its way any more, by whoever finds that out, as the last thing and without the lock; who has let go
// of the lock and is not to finish the call must not touch it any more.
class PathStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                         private CallGate::OpenEndedCall {
 public:
  using Handler = UnaryHandler<v1::FindPathRequest, v1::FindPathResponse>;

  // `find_path` answers a query. What the references name must outlive the call.
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Start(const Handler& find_path,
                                                                            Executor& executor,
                                                                            grpc::CallbackServerContext* call,
                                                                            const PathStreamLimits& limits);

 private:
  // A message, from when it was read until its queries are answered.
  class Batch final : public runtime::WorkerPool::Job {
   public:
    Batch(PathStream& stream, grpc::ByteBuffer bytes)
        : stream_(stream), bytes_(std::move(bytes)), length_(bytes_.Length()) {}

    void Run(int worker) override;
    // The same without a worker: with that problem for each query.
    void Refuse(const absl::Status& problem);

   private:
    friend class PathStream;

    PathStream& stream_;
    const grpc::ByteBuffer bytes_;
    const std::size_t length_;
    const Executor::Clock::time_point arrived_ = Executor::Clock::now();
  };

  PathStream(const Handler& find_path, Executor& executor, grpc::CallbackServerContext& call,
             const PathStreamLimits& limits)
      : find_path_(find_path),
        executor_(executor),
        call_(call),
        limits_(limits),
        deadline_(DeadlineOf(call)),
        caller_(executor.gate().access()) {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void OnGateClosed() override;
  void OnPatienceOver() override;
  absl::Status RenewCaller() override { return caller_.Renew(); }
  void OnRevoked(const absl::Status& why) override { End(why); }

  absl::Status Admit();
  // Parses a message. An error is one of the stream.
  absl::Status Parse(const Batch& batch, v1::StreamFindPathRequest& request) const;
  // Answers all queries of a message, on a worker.
  absl::Status AnswerAll(const Batch& batch, int worker);
  v1::StreamedAnswer AnswerOne(const v1::StreamedQuery& query, const Batch& batch, int worker);
  // Whether nobody wants more answers, and whether so many are unread that there is no room for more.
  bool IsGone();
  bool IsFull();
  void Add(v1::StreamedAnswer answer);
  // Takes the message off those that are unanswered. An error ends the stream.
  void FinishBatch(std::size_t length, const absl::Status& status);

  // As in UpdateStream.
  void End(const absl::Status& status);
  std::optional<absl::Status> Proceed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetEnd(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Handler& find_path_;
  Executor& executor_;
  // Until OnDone.
  grpc::CallbackServerContext& call_;
  const PathStreamLimits limits_;
  const Executor::Clock::time_point deadline_;
  LastingCaller caller_;
  std::atomic<bool> cancelled_ = false;
  bool is_inside_ = false;
  grpc::ByteBuffer message_;
  grpc::ByteBuffer answer_bytes_;

  Mutex mutex_;
  std::size_t unanswered_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t unanswered_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // To be written.
  std::deque<v1::StreamedAnswer> answers_ ABSL_GUARDED_BY(mutex_);
  std::size_t answers_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  // Nobody is there to read answers.
  bool is_gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  // Set when nothing more is to be read.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
