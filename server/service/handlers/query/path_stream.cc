#include "server/service/handlers/query/path_stream.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/call_context.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {
namespace {

// Total time that queries of one message may take on the thread that read it.
constexpr std::chrono::nanoseconds kTimeHere = 4 * QueryCosts::kHere;

// How long an answer is held back to be sent together with others.
constexpr std::chrono::nanoseconds kGathering = std::chrono::microseconds(200);

// Upper bound on the overhead of an answer in a message.
constexpr std::size_t kAnswerEnvelopeBytes = 16;

// Unread answers are kept up to this multiple of the message size; then queries are rejected.
constexpr std::size_t kMostUnread = 4;

constexpr std::size_t kCountedStep = 64 << 10;

void FillProblem(const v1::StreamedQuery& query, const absl::Status& status, v1::StreamedAnswer& answer) {
  answer.set_id(query.id());
  *answer.mutable_problem() = ToStatusMessage(status);
}

}  // namespace

absl::Status PathStream::Admit() {
  client_ = FlowOf(caller_.Get(), rpc_, "").client;
  WAYSTAR_RETURN_IF_ERROR(caller_.Require(&CheckStreamAccess<v1::StreamFindPathRequest>));
  return TakeSlot(server_.streams);
}

void PathStream::OnReadDone(bool ok) {
  grpc::ByteBuffer bytes;
  Batch* batch = nullptr;
  bool begins_to_gather = false;
  {
    const Change change(*this);
    if (!ok) {
      SetEnd(absl::OkStatus());
    }
    if (EndRead(ok)) {
      bytes.Swap(&message());
      batch = new Batch(bytes, server_.memory, rpc_);
      ++unanswered_;
      unanswered_bytes_ += batch->length;
      begins_to_gather = !std::exchange(is_gathering_, true);
      gathering_since_ = begins_to_gather ? batch->arrived : gathering_since_;
      has_read_more_ = !begins_to_gather;
    }
  }
  if (batch != nullptr) {
    FinishPart(batch, Take(bytes, *batch));
  }
  if (begins_to_gather) {
    next_turn_.Ask(rpc_.c_call());
  }
}

void PathStream::OnNextTurn() {
  {
    const Change change(*this);
    is_gathering_ = std::exchange(has_read_more_, false) && !end().has_value() &&
                    answers_bytes_ < limits_.max_bytes &&
                    Executor::Clock::now() - gathering_since_ < kGathering;
    if (!is_gathering_) {
      return;
    }
  }
  next_turn_.Ask(rpc_.c_call());
}

struct PathStream::Draft {
  explicit Draft(google::protobuf::Arena& arena)
      : envelope(*v1::StreamedAnswer::default_instance().New(&arena)),
        answer(*v1::FindPathResponse::default_instance().New(&arena)),
        written(answer) {}

  // Holds everything but the answer; unset for a problem.
  v1::StreamedAnswer& envelope;
  v1::FindPathResponse& answer;
  WrittenMessage written;
};

class PathStream::Gatherer {
 public:
  // Gathers answers to queries that arrived at `arrived`. Answers are in `arena`, also after they are sent.
  Gatherer(PathStream& stream, google::protobuf::Arena& arena, Executor::Clock::time_point arrived)
      : stream_(stream), arena_(arena), arrived_(arrived) {}

  // Returns the draft of the next answer, which is then taken, or overwritten by the next call.
  Draft& next() { return next_.has_value() ? *next_ : next_.emplace(arena_); }

  // Adds the next answer, and returns the time.
  Executor::Clock::time_point Take() {
    const Executor::Clock::time_point now = Executor::Clock::now();
    const v1::StreamedAnswer& envelope = next_->envelope;
    stream_.requests_.CountEnd(static_cast<absl::StatusCode>(envelope.problem().code()), now - arrived_);
    WrittenMessage answer(envelope);
    answer.AddFieldsOf(envelope);
    if (!envelope.has_problem()) {
      AddAnswer(answer);
    }
    next_.reset();
    if (!message_.empty() &&
        message_.size() + answer.size() + kAnswerEnvelopeBytes > stream_.limits_.max_bytes) {
      Send();
    }
    if (message_.empty()) {
      since_ = now;
    }
    message_.AddField(v1::StreamFindPathResponse::kAnswersFieldNumber, answer);
    return now;
  }

  void Leave() { next_.reset(); }

  void Send() {
    if (!message_.empty()) {
      stream_.Add(message_.ToBytes());
      message_.Clear();
    }
  }

  // Returns true if answers have been held back long enough.
  bool IsDue(Executor::Clock::time_point now) const { return !message_.empty() && now - since_ > kGathering; }

 private:
  void AddAnswer(WrittenMessage& streamed) {
    WrittenMessage& written = next_->written;
    if (written.empty()) {
      written.AddFieldsOf(next_->answer);
    }
    streamed.AddField(v1::StreamedAnswer::kAnswerFieldNumber, written);
  }

  PathStream& stream_;
  google::protobuf::Arena& arena_;
  const Executor::Clock::time_point arrived_;
  std::optional<Draft> next_;
  WrittenMessage message_{*v1::StreamFindPathResponse::default_instance().New(&arena_)};
  Executor::Clock::time_point since_;
};

class PathStream::QueriesJob final : public Executor::Job {
 public:
  QueriesJob(PathStream& stream, Batch& batch, Queries queries, Lane lane)
      : stream_(stream), batch_(batch), queries_(std::move(queries)), lane_(lane) {}

  void Run(int worker) override {
    google::protobuf::Arena arena;
    Gatherer gatherer(stream_, arena, batch_.arrived);
    Workbench& bench = stream_.executor().bench(worker);
    const Executor::Clock::time_point begin = Executor::Clock::now();
    while (next_ < queries_.size() && !stream_.IsGone()) {
      const Executor::Clock::time_point now = Executor::Clock::now();
      if (now - begin > kTurn) {
        gatherer.Send();
        // The job goes to the end of the queue.
        stream_.Submit(this, queries_[next_]->query(), lane_);
        return;
      }
      if (gatherer.IsDue(now)) {
        gatherer.Send();
      }
      const v1::StreamedQuery& query = *queries_[next_++];
      if (stream_.IsFull()) {
        FillProblem(query, Unread(), gatherer.next().envelope);
        gatherer.Take();
      } else if (stream_.Answer(batch_, query, lane_, bench, now, gatherer.next())) {
        gatherer.Take();
        if (lane_ == Lane::kLarge) {
          // The next query may take seconds.
          gatherer.Send();
        }
      } else {
        gatherer.Leave();
        stream_.HandOver(batch_, {&query}, Lane::kLarge);
      }
    }
    gatherer.Send();
    Finish();
  }

  void Refuse(const absl::Status& status) override {
    google::protobuf::Arena arena;
    Gatherer gatherer(stream_, arena, batch_.arrived);
    for (; next_ < queries_.size(); ++next_) {
      FillProblem(*queries_[next_], status, gatherer.next().envelope);
      gatherer.Take();
    }
    gatherer.Send();
    Finish();
  }

 private:
  // How long a job keeps a worker that others wait for, to within one query.
  static constexpr std::chrono::nanoseconds kTurn = QueryCosts::kSmall;
  // A client that reads makes progress in this time.
  static constexpr absl::Duration kUnreadDelay = absl::Milliseconds(100);

  static absl::Status Unread() {
    return Refusal(ErrorReason::kAnswersUnread, kUnreadDelay,
                   "too many answers wait for the client to read them");
  }

  void Finish() {
    PathStream& stream = stream_;
    Batch* const batch = &batch_;
    delete this;
    stream.FinishPart(batch, absl::OkStatus());
  }

  PathStream& stream_;
  Batch& batch_;
  const Queries queries_;
  const Lane lane_;
  std::size_t next_ = 0;
};

absl::Status PathStream::Take(const grpc::ByteBuffer& bytes, Batch& batch) {
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(bytes, batch.request, batch.memory));
  if (batch.request.queries_size() > kMaxQueriesOfMessage) {
    return MakeError(ErrorReason::kTooManyItems, "queries",
                     absl::StrCat("a message may have at most ", kMaxQueriesOfMessage, " queries, got ",
                                  batch.request.queries_size()));
  }
  Queries small;
  Queries large;
  {
    const Executor::Lease bench = executor().LeaseHere();
    const bool answers_here = bench && !IsFull();
    Gatherer gatherer(*this, batch.arena, batch.arrived);
    Executor::Clock::time_point now = Executor::Clock::now();
    for (const v1::StreamedQuery& query : batch.request.queries()) {
      const Lane lane = costs_.LaneOf(query.query());
      const bool is_here = lane == Lane::kHere && answers_here && now - batch.arrived < kTimeHere;
      if (is_here && Answer(batch, query, lane, *bench, now, gatherer.next())) {
        now = gatherer.Take();
        continue;
      }
      if (is_here) {
        gatherer.Leave();
        now = Executor::Clock::now();
      }
      (lane == Lane::kLarge ? large : small).push_back(&query);
    }
    gatherer.Send();
  }
  Spread(batch, small, Lane::kSmall);
  Spread(batch, large, Lane::kLarge);
  return absl::OkStatus();
}

void PathStream::Spread(Batch& batch, const Queries& queries, Lane lane) {
  const std::size_t jobs = std::min(queries.size(), static_cast<std::size_t>(executor().workers(lane)));
  for (std::size_t i = 0; i < jobs; ++i) {
    const auto begin = queries.begin() + static_cast<std::ptrdiff_t>(i * queries.size() / jobs);
    const auto end = queries.begin() + static_cast<std::ptrdiff_t>((i + 1) * queries.size() / jobs);
    HandOver(batch, Queries(begin, end), lane);
  }
}

void PathStream::HandOver(Batch& batch, Queries queries, Lane lane) {
  batch.parts.fetch_add(1, std::memory_order_relaxed);
  const v1::FindPathRequest& first = queries.front()->query();
  Submit(new QueriesJob(*this, batch, std::move(queries), lane), first, lane);
}

void PathStream::Submit(QueriesJob* job, const v1::FindPathRequest& first, Lane lane) {
  const runtime::Flow flow{.client = client_, .map = absl::HashOf(first.map())};
  if (const absl::Status status = executor().Submit(lane, job, flow, deadline_); !status.ok()) {
    job->Refuse(status);
  }
}

bool PathStream::Answer(const Batch& batch, const v1::StreamedQuery& query, Lane lane, Workbench& bench,
                        Executor::Clock::time_point now, Draft& draft) {
  if (!query.has_query()) {
    FillProblem(query, MissingField("query"), draft.envelope);
    return true;
  }
  const Caller caller = caller_.Get();
  if (const absl::Status denied = CheckPartAccess<v1::StreamFindPathRequest>(caller, query.query());
      !denied.ok()) {
    FillProblem(query, denied, draft.envelope);
    return true;
  }
  draft.envelope.set_id(query.id());
  core::Upkeep upkeep(MaxUpkeepOn(lane));
  CallContext context{.bench = bench,
                      .caller = caller,
                      .budget = {.deadline = deadline_,
                                 .cancelled = &cancelled_,
                                 .upkeep = lane == Lane::kLarge ? nullptr : &upkeep},
                      .queued = now - batch.arrived,
                      .begin = now,
                      .staleness = server_.fleet.QuietFor(now),
                      .max_expansions_here = MaxExpansionsOn(lane),
                      .head = rpc_,
                      .written = &draft.written};
  const std::chrono::nanoseconds cost_begin = CostClock(lane);
  absl::Status status =
      RunWithinMemory(bench, [&] { return find_path_(query.query(), draft.answer, context); });
  if (context.NeedsLargerLane()) {
    return false;
  }
  if (!context.missing_map.ok()) {
    status = context.missing_map;
  }
  costs_.Note(query.query(), CostClock(lane) - cost_begin);
  if (!status.ok()) {
    FillProblem(query, status, draft.envelope);
  }
  return true;
}

bool PathStream::IsGone() {
  MutexLock lock(mutex_);
  return is_gone();
}

bool PathStream::IsFull() {
  MutexLock lock(mutex_);
  return is_budget_spent_ || answers_bytes_ >= kMostUnread * limits_.max_bytes;
}

void PathStream::Add(const grpc::ByteBuffer& answers) {
  // Not the end: the message of these answers still counts as unanswered.
  const Change change(*this);
  if (!is_gone()) {
    answers_bytes_ += answers.Length();
    answers_.push_back(answers);
    CountUnread();
  }
}

void PathStream::FinishPart(Batch* batch, const absl::Status& status) {
  const std::size_t length = batch->length;
  const bool is_last = batch->parts.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (is_last) {
    delete batch;
  }
  if (!is_last && status.ok()) {
    return;
  }
  const Change change(*this);
  if (is_last) {
    --unanswered_;
    unanswered_bytes_ -= length;
  }
  if (!status.ok()) {
    SetEnd(status);
  }
}

void PathStream::Advance() {
  if (is_gone()) {
    answers_.clear();
    answers_bytes_ = 0;
    CountUnread();
  }
  if (!is_writing() && !is_gathering_ && !answers_.empty()) {
    WriteSome();
  }
  if (unanswered_ < limits_.max_unanswered && unanswered_bytes_ + answers_bytes_ < limits_.max_bytes) {
    Read();
  }
}

bool PathStream::IsIdle() const { return unanswered_ == 0 && !is_gathering_ && answers_.empty(); }

void PathStream::CountUnread() {
  // In steps, so that a stream whose client reads counts nothing.
  is_budget_spent_ = !answers_memory_.Resize(answers_bytes_ / kCountedStep * kCountedStep).ok();
}

void PathStream::WriteSome() {
  std::vector<grpc::Slice> slices;
  std::size_t bytes = 0;
  while (!answers_.empty()) {
    const std::size_t next = answers_.front().Length();
    if (bytes > 0 && bytes + next > limits_.max_bytes) {
      break;
    }
    bytes += next;
    std::vector<grpc::Slice> of_answers;
    // The bytes are not compressed, so this cannot fail.
    static_cast<void>(answers_.front().Dump(&of_answers));
    std::move(of_answers.begin(), of_answers.end(), std::back_inserter(slices));
    answers_.pop_front();
  }
  answers_bytes_ -= bytes;
  CountUnread();
  Write(grpc::ByteBuffer(slices.data(), slices.size()));
}

}  // namespace waystar::rpc
