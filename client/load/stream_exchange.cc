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

class Stream {
 public:
  Stream(const Wire& wire, const std::shared_ptr<grpc::Channel>& channel)
      : wire_(wire),
        stub_(v1::PathService::NewStub(channel)),
        queries_(static_cast<std::uint64_t>(wire.settings.per_message)) {}

  // The ids of the queries are for this to give.
  void Send(Time due, v1::StreamFindPathRequest message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::uint64_t number = next_message_++;
    for (int i = 0; i < message.queries_size(); ++i) {
      message.mutable_queries(i)->set_id(number * queries_ + static_cast<std::uint64_t>(i));
    }
    under_way_[number] = {due, queries_};
    unsent_.push_back(std::move(message));
    if (state_ == State::kIdle) {
      Open();
    } else {
      WriteNext();
    }
  }

  void Close() {
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

  class MethodEvent final : public Event {
   public:
    MethodEvent(Stream& stream, void (Stream::*method)(bool)) : stream_(stream), method_(method) {}
    void Proceed(bool ok) override { (stream_.*method_)(ok); }

   private:
    Stream& stream_;
    void (Stream::*const method_)(bool);
  };

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

  MethodEvent on_open_{*this, &Stream::OnOpen};
  MethodEvent on_written_{*this, &Stream::OnWritten};
  MethodEvent on_read_{*this, &Stream::OnRead};
  MethodEvent on_end_{*this, &Stream::OnEnd};

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

class StreamExchange final : public Exchange {
 public:
  explicit StreamExchange(const Wire& wire) : wire_(wire), random_(wire.seed) {
    for (const auto& channel : wire.channels) {
      streams_.push_back(std::make_unique<Stream>(wire, channel));
    }
  }

  void Send(Time due) override {
    v1::StreamFindPathRequest message;
    for (int i = 0; i < wire_.settings.per_message; ++i) {
      *message.add_queries()->mutable_query() =
          Workload::PickQuery(wire_.workload.PickPart(random_), random_);
    }
    streams_[next_stream_]->Send(due, std::move(message));
    next_stream_ = (next_stream_ + 1) % streams_.size();
  }

  void Close() override {
    for (const auto& stream : streams_) {
      stream->Close();
    }
  }

 private:
  const Wire wire_;
  Workload::Random random_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::size_t next_stream_ = 0;
};

}  // namespace

std::unique_ptr<Exchange> MakeStreamExchange(const Wire& wire) {
  return std::make_unique<StreamExchange>(wire);
}

}  // namespace waystar::load
