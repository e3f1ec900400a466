#include <grpcpp/client_context.h>
#include <grpcpp/support/async_stream.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/errors.h"
#include "client/load/exchange.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::load {
namespace {

class StreamExchange final : public Exchange {
 public:
  StreamExchange(const Wire& wire, const std::shared_ptr<grpc::Channel>& channel)
      : wire_(wire),
        stub_(v1::PathService::NewStub(channel)),
        queries_(static_cast<std::uint64_t>(wire.settings.per_message)) {}

  void Send(Time due) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::uint64_t number = next_message_++;
    v1::StreamFindPathRequest message;
    for (std::uint64_t i = 0; i < queries_; ++i) {
      v1::StreamedQuery& query = *message.add_queries();
      query.set_id(number * queries_ + i);
      *query.mutable_query() = Workload::PickQuery(wire_.workload.PickPart(wire_.random), wire_.random);
    }
    under_way_[number] = {due, queries_};
    unsent_.push_back(std::move(message));
    if (state_ == State::kIdle) {
      Open();
    } else {
      WriteNext();
    }
  }

  void Close() override {
    std::unique_lock<std::mutex> lock(mutex_);
    is_closing_ = true;
    if (state_ != State::kIdle) {
      context_->TryCancel();
      idle_.wait(lock, [this] { return state_ == State::kIdle; });
    }
  }

 private:
  enum class State { kIdle, kOpening, kOpen, kEnding };

  struct UnderWay {
    Time due;
    std::uint64_t unanswered = 0;
  };
  using Messages = absl::flat_hash_map<std::uint64_t, UnderWay>;

  // REQUIRES of these: mutex_ is held.

  void Open() {
    state_ = State::kOpening;
    context_ = std::make_unique<grpc::ClientContext>();
    wire_.connection.Prepare(*context_, absl::InfiniteDuration());
    stream_ = stub_->AsyncStreamFindPath(context_.get(), &wire_.queue, &on_open_);
  }

  void WriteNext() {
    if (state_ != State::kOpen || is_writing_ || unsent_.empty()) {
      return;
    }
    is_writing_ = true;
    writing_ = std::move(unsent_.front());
    unsent_.pop_front();
    stream_->Write(writing_, &on_written_);
  }

  void End() {
    state_ = State::kEnding;
    stream_->Finish(&status_, &on_end_);
  }

  // Once all that was begun on the stream has ended. What was under way on it.
  Messages Reset() {
    has_ended_ = false;
    stream_.reset();
    context_.reset();
    unsent_.clear();
    state_ = State::kIdle;
    idle_.notify_all();
    return std::exchange(under_way_, {});
  }

  // On the thread that drives the queue.

  void OnOpen(bool ok) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!ok) {
      End();
      return;
    }
    state_ = State::kOpen;
    stream_->Read(&answers_, &on_read_);
    WriteNext();
  }

  void OnWritten(bool ok) {
    std::unique_lock<std::mutex> lock(mutex_);
    is_writing_ = false;
    if (ok) {
      WriteNext();
    }
    FailAfterReset(std::move(lock));
  }

  void OnRead(bool ok) {
    if (!ok) {
      const std::lock_guard<std::mutex> lock(mutex_);
      End();
      return;
    }
    for (const v1::StreamedAnswer& answer : answers_.answers()) {
      Tell(answer);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    stream_->Read(&answers_, &on_read_);
  }

  void OnEnd(bool /*ok*/) {
    std::unique_lock<std::mutex> lock(mutex_);
    has_ended_ = true;
    FailAfterReset(std::move(lock));
  }

  void Tell(const v1::StreamedAnswer& answer) {
    Time due;
    bool is_done = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto message = under_way_.find(answer.id() / queries_);
      if (message == under_way_.end()) {
        return;
      }
      due = message->second.due;
      is_done = --message->second.unanswered == 0;
      if (is_done) {
        under_way_.erase(message);
      }
    }
    if (answer.has_problem()) {
      wire_.listener.OnFailed(due, client::FromMessage(answer.problem()), 1);
    } else {
      wire_.listener.OnAnswered(due, answer.answer().outcome() == v1::OUTCOME_FOUND);
    }
    if (is_done) {
      wire_.listener.OnMessageDone();
    }
  }

  void FailAfterReset(std::unique_lock<std::mutex> lock) {
    if (state_ != State::kEnding || !has_ended_ || is_writing_) {
      return;
    }
    absl::Status status = client::FromGrpc(status_);
    if (is_closing_) {
      status = absl::DeadlineExceededError("no answer to the last queries within the deadline");
    } else if (status.ok()) {
      status = absl::UnavailableError("the server ended the stream");
    }
    const Messages lost = Reset();
    lock.unlock();
    for (const auto& [number, message] : lost) {
      wire_.listener.OnFailed(message.due, status, message.unanswered);
      wire_.listener.OnMessageDone();
    }
  }

  const Wire wire_;
  const std::unique_ptr<v1::PathService::Stub> stub_;
  const std::uint64_t queries_;

  Event on_open_ = [this](bool ok) { OnOpen(ok); };
  Event on_written_ = [this](bool ok) { OnWritten(ok); };
  Event on_read_ = [this](bool ok) { OnRead(ok); };
  Event on_end_ = [this](bool ok) { OnEnd(ok); };

  std::mutex mutex_;
  std::condition_variable idle_;
  // Guarded by mutex_.
  State state_ = State::kIdle;
  bool is_writing_ = false;
  bool has_ended_ = false;
  bool is_closing_ = false;
  std::uint64_t next_message_ = 0;
  Messages under_way_;
  std::deque<v1::StreamFindPathRequest> unsent_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<v1::StreamFindPathRequest, v1::StreamFindPathResponse>>
      stream_;
  // The library's while it writes, reads or ends.
  v1::StreamFindPathRequest writing_;
  v1::StreamFindPathResponse answers_;
  grpc::Status status_;
};

}  // namespace

std::unique_ptr<Exchange> MakeStreamExchange(const Wire& wire,
                                             const std::shared_ptr<grpc::Channel>& channel) {
  return std::make_unique<StreamExchange>(wire, channel);
}

}  // namespace waystar::load
