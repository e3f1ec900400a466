#include "server/service/call/streaming_call.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "gtest/gtest.h"
#include "server/base/error.h"
#include "tests/service/call/world.h"
#include "tests/testing/patience.h"

namespace waystar::rpc {
namespace {

// What has happened to a call; outlives it, whoever is the last to hold it.
struct Record {
  ~Record() { destroyed.Wait(); }

  std::atomic<int> reads = 0;
  std::atomic<int> writes = 0;
  std::atomic<int> cancels = 0;
  std::atomic<int> jobs = 0;
  std::atomic<int> finishes = 0;
  grpc::StatusCode code = grpc::StatusCode::OK;
  int slots_at_finish = -1;
  std::int64_t open_at_finish = -1;
  Event finished{"the end of the call"};
  Event destroyed{"the destruction of the call"};
};

// A call whose library is the test. It reads until it is told otherwise, and writes what it has to.
class ScriptedCall final : public StreamingCall {
 public:
  struct Script {
    Kind kind = Kind::kOpenEnded;
    std::function<absl::Status(ScriptedCall&)> admit;
    std::function<void(ScriptedCall&)> job;
    std::function<void(ScriptedCall&)> timeout;
    std::function<void(ScriptedCall&)> stall;
  };

  // Begins a call that the library holds until Done.
  static std::shared_ptr<ScriptedCall> Begin(World& world, Record& record, Script script) {
    std::shared_ptr<ScriptedCall> call(new ScriptedCall(world, record, std::move(script)));
    call->StreamingCall::Begin();
    return call;
  }
  // The same; the library is done with it when the test is.
  static std::shared_ptr<ScriptedCall> Start(World& world, Record& record, Script script) {
    std::shared_ptr<ScriptedCall> call = Begin(world, record, std::move(script));
    return {call.get(), [call](ScriptedCall*) mutable {
              call->Done();
              call.reset();
            }};
  }
  static std::shared_ptr<ScriptedCall> Start(World& world, Record& record) {
    return Start(world, record, Script());
  }
  static Script Transfer() { return {.kind = Kind::kTransfer}; }

  ~ScriptedCall() override { record_.destroyed.Happen(); }

  // Whether the message is to be used.
  bool ReadOne() {
    const Change change(*this);
    return EndRead(true);
  }
  void SendOne() {
    const Change change(*this);
    ++unsent_;
  }
  void SetBusy(bool is_busy) {
    const Change change(*this);
    is_busy_ = is_busy;
  }
  void AwaitTransfer() {
    const Change change(*this);
    EXPECT_TRUE(AwaitSlot(world_.transfers).ok());
  }
  bool AwaitsSlot() {
    MutexLock lock(mutex_);
    return awaits_slot();
  }
  void StartJob() {
    {
      const Change change(*this);
      BeginJob();
    }
    SubmitJob(Lane::kSmall, {});
  }
  void ReplaceEndOf(const absl::Status& status) {
    const Change change(*this);
    ReplaceEnd(status);
  }

  using StreamingCall::Cancelled;
  using StreamingCall::Done;
  using StreamingCall::End;
  using StreamingCall::SetTimes;
  using StreamingCall::TakeSlot;
  using StreamingCall::WriteDone;

 private:
  ScriptedCall(World& world, Record& record, Script script)
      : StreamingCall(script.kind, world.context, world.rpc, world.method),
        world_(world),
        record_(record),
        script_(std::move(script)) {}

  absl::Status Admit() override { return script_.admit ? script_.admit(*this) : absl::OkStatus(); }
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (unsent_ > 0 && !is_writing() && !is_gone()) {
      --unsent_;
      Write({});
    }
    Read();
  }
  bool IsIdle() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !is_busy_; }
  void RunJob(int /*worker*/) override {
    ++record_.jobs;
    if (script_.job) {
      script_.job(*this);
    }
  }
  void OnTimeout() override {
    if (script_.timeout) {
      script_.timeout(*this);
    } else {
      StreamingCall::OnTimeout();
    }
  }
  void OnStall() override {
    if (script_.stall) {
      script_.stall(*this);
    } else {
      StreamingCall::OnStall();
    }
  }
  void StartReading(grpc::ByteBuffer* /*message*/) override { ++record_.reads; }
  void StartWriting(const grpc::ByteBuffer* /*message*/) override { ++record_.writes; }
  void TryCancel() override { ++record_.cancels; }
  void FinishWith(const grpc::Status& status) override {
    record_.code = status.error_code();
    record_.slots_at_finish = world_.transfers.counts().taken;
    record_.open_at_finish = world_.method.Counts().open;
    if (++record_.finishes == 1) {
      record_.finished.Happen();
    }
  }

  World& world_;
  Record& record_;
  const Script script_;
  int unsent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_busy_ ABSL_GUARDED_BY(mutex_) = false;
};

class StreamingCallTest : public ::testing::Test {
 protected:
  World world_;
  Record record_;
};

TEST_F(StreamingCallTest, ReadsOneMessageAtATimeUntilItEnds) {
  const auto call = ScriptedCall::Start(world_, record_);
  EXPECT_EQ(record_.reads, 1);
  call->SendOne();
  EXPECT_EQ(record_.reads, 1);
  EXPECT_TRUE(call->ReadOne());
  EXPECT_EQ(record_.reads, 2);
  call->End(absl::OkStatus());
  EXPECT_FALSE(call->ReadOne());
  EXPECT_EQ(record_.reads, 2);
  call->WriteDone(true);
}

TEST_F(StreamingCallTest, WritesOneMessageAtATime) {
  const auto call = ScriptedCall::Start(world_, record_);
  call->SendOne();
  call->SendOne();
  EXPECT_EQ(record_.writes, 1);
  call->WriteDone(true);
  EXPECT_EQ(record_.writes, 2);
  call->WriteDone(true);
  call->Cancelled();
}

TEST_F(StreamingCallTest, FinishesOnceWhenNothingIsOnItsWay) {
  const auto call = ScriptedCall::Start(world_, record_);
  call->SetBusy(true);
  call->SendOne();
  call->End(absl::NotFoundError(""));
  EXPECT_EQ(record_.finishes, 0) << "a message is being written";
  call->WriteDone(true);
  EXPECT_EQ(record_.finishes, 0) << "the call itself is busy";
  call->SetBusy(false);
  EXPECT_EQ(record_.finishes, 1) << "a read that is under way is not waited for";
  call->End(absl::InternalError(""));
  call->Cancelled();
  EXPECT_EQ(record_.finishes, 1);
  EXPECT_EQ(record_.code, grpc::StatusCode::NOT_FOUND);
}

TEST_F(StreamingCallTest, TellsTheFirstReasonThatThereWas) {
  const auto call = ScriptedCall::Start(world_, record_);
  call->SetBusy(true);
  call->End(absl::NotFoundError(""));
  world_.Close();
  call->Cancelled();
  call->SetBusy(false);
  EXPECT_EQ(record_.code, grpc::StatusCode::NOT_FOUND);
}

TEST_F(StreamingCallTest, EndsWhenAWriteFails) {
  const auto call = ScriptedCall::Start(world_, record_);
  call->SendOne();
  call->SendOne();
  call->WriteDone(false);
  EXPECT_EQ(record_.writes, 1) << "nobody is there to read";
  EXPECT_EQ(record_.code, grpc::StatusCode::CANCELLED);
  EXPECT_EQ(record_.finishes, 1);
}

TEST_F(StreamingCallTest, NeitherReadsNorEntersWhenItIsNotAdmitted) {
  const auto call = ScriptedCall::Start(
      world_, record_, {.admit = [](ScriptedCall&) { return absl::PermissionDeniedError(""); }});
  EXPECT_EQ(record_.reads, 0);
  EXPECT_EQ(record_.code, grpc::StatusCode::PERMISSION_DENIED);
  world_.Close();
  Record late;
  ScriptedCall::Start(world_, late);
  EXPECT_EQ(late.code, grpc::StatusCode::UNAVAILABLE);
}

TEST_F(StreamingCallTest, IsNotFinishedBeforeItIsAdmitted) {
  const auto call = ScriptedCall::Start(world_, record_, {.admit = [&](ScriptedCall&) {
                                          world_.Close();
                                          EXPECT_EQ(record_.finishes, 0);
                                          return absl::OkStatus();
                                        }});
  EXPECT_EQ(record_.finishes, 1);
  EXPECT_EQ(record_.code, grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(record_.reads, 0);
}

TEST(StreamingCallsTest, IsCutOffOnlyWhileItsClientDoesNotRead) {
  World world;
  Record busy;
  Record unread;
  const auto busy_call = ScriptedCall::Start(world, busy);
  const auto unread_call = ScriptedCall::Start(world, unread);
  busy_call->SetBusy(true);
  unread_call->SendOne();
  world.Close();
  EXPECT_EQ(busy.cancels, 0);
  EXPECT_EQ(unread.cancels, 1);
  unread_call->WriteDone(false);
  busy_call->SetBusy(false);
  EXPECT_EQ(busy.code, grpc::StatusCode::UNAVAILABLE);
}

TEST_F(StreamingCallTest, TransferIsNotToldThatTheServerStops) {
  const auto call = ScriptedCall::Start(world_, record_, ScriptedCall::Transfer());
  world_.Close();
  EXPECT_EQ(record_.finishes, 0);
  call->End(absl::OkStatus());
  EXPECT_EQ(record_.code, grpc::StatusCode::OK);
}

TEST_F(StreamingCallTest, GivesBackSlotAndCountsBeforeTheClientKnows) {
  auto script = ScriptedCall::Transfer();
  script.admit = [&](ScriptedCall& self) { return self.TakeSlot(world_.transfers); };
  const auto call = ScriptedCall::Start(world_, record_, script);
  EXPECT_EQ(world_.transfers.counts().taken, 1);
  EXPECT_EQ(world_.method.Counts().open, 1);
  Record second;
  ScriptedCall::Start(world_, second, script);
  EXPECT_EQ(second.code, grpc::StatusCode::RESOURCE_EXHAUSTED);
  call->End(absl::OkStatus());
  EXPECT_EQ(record_.slots_at_finish, 0);
  EXPECT_EQ(record_.open_at_finish, 0);
  EXPECT_EQ(world_.method.Counts().seconds.count, 2U);
}

TEST_F(StreamingCallTest, GetsTheSlotThatAnotherGivesBack) {
  Record waiting;
  const auto call = ScriptedCall::Start(world_, record_, ScriptedCall::Transfer());
  call->AwaitTransfer();
  EXPECT_FALSE(call->AwaitsSlot());
  const auto waiting_call = ScriptedCall::Start(world_, waiting, ScriptedCall::Transfer());
  waiting_call->AwaitTransfer();
  EXPECT_TRUE(waiting_call->AwaitsSlot());
  call->End(absl::OkStatus());
  EXPECT_FALSE(waiting_call->AwaitsSlot());
  EXPECT_EQ(world_.transfers.counts().taken, 1);
  waiting_call->End(absl::OkStatus());
  EXPECT_EQ(waiting.slots_at_finish, 0);
}

TEST_F(StreamingCallTest, WaitsForNoSlotOnceItHasEnded) {
  Record waiting;
  const auto call = ScriptedCall::Start(world_, record_, ScriptedCall::Transfer());
  call->AwaitTransfer();
  const auto waiting_call = ScriptedCall::Start(world_, waiting, ScriptedCall::Transfer());
  waiting_call->AwaitTransfer();
  waiting_call->Cancelled();
  EXPECT_EQ(waiting.finishes, 1);
  EXPECT_EQ(world_.transfers.counts().waiting, 0);
  call->End(absl::OkStatus());
  EXPECT_EQ(world_.transfers.counts().taken, 0);
}

// Slots that are given back meet calls that end while they wait for them.
TEST(StreamingCallsTest, LosesNoSlotWhereverItEnds) {
  World world;
  for (int i = 0; i < 500; ++i) {
    Record record;
    Record waiting;
    const auto call = ScriptedCall::Start(world, record, ScriptedCall::Transfer());
    call->AwaitTransfer();
    const auto waiting_call = ScriptedCall::Start(world, waiting, ScriptedCall::Transfer());
    waiting_call->AwaitTransfer();
    std::thread end([&] { call->End(absl::OkStatus()); });
    waiting_call->Cancelled();
    waiting.finished.Wait();
    end.join();
    EXPECT_EQ(world.transfers.counts().taken, 0);
    EXPECT_EQ(world.transfers.counts().waiting, 0);
  }
}

TEST_F(StreamingCallTest, IsNotFinishedWhileItsJobRuns) {
  Event is_running{"the job"};
  Event may_end{"leave for the job to end"};
  const auto call = ScriptedCall::Start(world_, record_, {.job = [&](ScriptedCall& self) {
                                          is_running.Happen();
                                          may_end.Wait();
                                          self.ReplaceEndOf(absl::DataLossError(""));
                                        }});
  call->StartJob();
  is_running.Wait();
  call->Cancelled();
  EXPECT_EQ(record_.finishes, 0);
  may_end.Happen();
  record_.finished.Wait();
  EXPECT_EQ(record_.code, grpc::StatusCode::DATA_LOSS) << "the job has the last word";
}

TEST_F(StreamingCallTest, JobDoesNotRunOnceTheCallHasEnded) {
  const auto call = ScriptedCall::Start(world_, record_);
  call->SetBusy(true);
  call->End(absl::AbortedError(""));
  call->StartJob();
  call->SetBusy(false);
  record_.finished.Wait();
  EXPECT_EQ(record_.jobs, 0);
  EXPECT_EQ(record_.code, grpc::StatusCode::ABORTED);
}

TEST_F(StreamingCallTest, TimeoutEndsIt) {
  const auto call = ScriptedCall::Start(world_, record_,
                                        {.admit =
                                             [](ScriptedCall& self) {
                                               self.SetTimes({.timeout = absl::Milliseconds(1)});
                                               return absl::OkStatus();
                                             },
                                         .timeout =
                                             [&](ScriptedCall& self) {
                                               self.End(absl::DeadlineExceededError(""));
                                               EXPECT_EQ(record_.finishes, 0) << "the timer is at work yet";
                                             }});
  record_.finished.Wait();
  EXPECT_EQ(record_.code, grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(StreamingCallTest, ClientThatDoesNotReadEndsIt) {
  Event is_cancelled{"the cancellation of the call"};
  const auto call = ScriptedCall::Start(world_, record_,
                                        {.admit =
                                             [](ScriptedCall& self) {
                                               self.SetTimes({.stall = absl::Milliseconds(1)});
                                               return absl::OkStatus();
                                             },
                                         .stall = [&](ScriptedCall&) { is_cancelled.Happen(); }});
  call->SendOne();
  is_cancelled.Wait();
  EXPECT_EQ(record_.finishes, 0);
  call->WriteDone(false);
  record_.finished.Wait();
  EXPECT_EQ(record_.code, grpc::StatusCode::CANCELLED);
}

TEST_F(StreamingCallTest, LivesAsLongAsTheLibraryOrAnyoneElseHoldsIt) {
  auto held = ScriptedCall::Begin(world_, record_, {});
  ScriptedCall* const call = held.get();
  held.reset();
  call->Cancelled();
  EXPECT_FALSE(record_.destroyed.HasHappened());
  call->Done();
  EXPECT_TRUE(record_.destroyed.HasHappened());

  Record longer;
  auto holder = ScriptedCall::Begin(world_, longer, {});
  holder->Cancelled();
  holder->Done();
  EXPECT_FALSE(longer.destroyed.HasHappened());
  // It is out of the gate by then, so that a server that stops does not wait for whoever holds it.
  world_.gate.Close(std::chrono::steady_clock::time_point::max(),
                    std::chrono::steady_clock::time_point::max());
  holder.reset();
  EXPECT_TRUE(longer.destroyed.HasHappened());
}

// The library, a worker, the client's end and a server that stops, all at once.
TEST(StreamingCallsTest, IsFinishedOnceWhoeverFindsThatOut) {
  World world;
  for (int i = 0; i < 500; ++i) {
    Record record;
    auto held = ScriptedCall::Begin(world, record, {});
    ScriptedCall* const call = held.get();
    held.reset();
    call->SetBusy(true);
    call->SendOne();
    call->StartJob();
    std::thread library([&] { call->WriteDone(true); });
    std::thread client([&] { call->ReadOne(); });
    std::thread answer([&] { call->SetBusy(false); });
    std::thread end([&] { call->End(absl::OkStatus()); });
    record.finished.Wait();
    library.join();
    client.join();
    answer.join();
    end.join();
    EXPECT_EQ(record.finishes, 1);
    EXPECT_FALSE(record.destroyed.HasHappened());
    call->Done();
  }
}

}  // namespace
}  // namespace waystar::rpc
