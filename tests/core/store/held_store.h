// Stores with a map, on a clock that the test moves.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/store/map_store.h"
#include "tests/core/store/held_log.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/store_edits.h"

namespace waystar::core {

inline UpdateBatch PutBatch(const std::string& id, int x, std::optional<absl::Duration> lifetime,
                            bool replace = true) {
  return {
      .edits = {PutObstacle{
          .obstacle = {.id = id, .shape = {.cells = {{x, 0}}}}, .lifetime = lifetime, .replace = replace}}};
}

// Returns "2" for revision 2, "2 again" if it was applied before, or the reason of an error.
inline std::string TextOf(const absl::StatusOr<UpdateResult>& answer) {
  if (!answer.ok()) {
    const std::string reason = ErrorReasonOf(answer.status());
    return reason.empty() ? std::string(absl::StatusCodeToString(answer.status().code())) : reason;
  }
  return absl::StrCat(answer->revision, answer->already_applied ? " again" : "");
}

inline auto IsGone() { return IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"); }
inline auto IsLost() { return IsError(absl::StatusCode::kUnavailable, ErrorReason::kStorageFailed, ""); }

// A store without a log. Its map has three rows of eight free cells and epoch 7.
class StoreTest : public ::testing::Test {
 protected:
  explicit StoreTest(StoreOptions options = {})
      : store_([&] {
          if (options.clock == &Clock::Steady()) {
            options.clock = &clock_;
          }
          return options;
        }()) {
    store_.AddListener(&listener_);
    store_.OnEarlierExpiry([this](absl::Time expiry) { told_.push_back(expiry - kBegin); });
    EXPECT_THAT(store_.Restore({.snapshot = {.id = "arena",
                                             .epoch = 7,
                                             .create_time = clock_.Now(),
                                             .map = DrawMap({"........", "........", "........"})}}),
                IsOk());
  }

  // The batches are numbered from 0 on.
  void Update(UpdateBatch batch) {
    store_.Update("arena", std::move(batch),
                  [this, number = sent_++](const absl::StatusOr<UpdateResult>& answer) {
                    // Whoever hears of a revision finds it.
                    if (answer.ok()) {
                      EXPECT_GE(Revision(), answer->revision);
                    } else {
                      last_refusal_ = answer.status();
                    }
                    answers_.push_back(absl::StrCat(number, ": ", TextOf(answer)));
                  });
  }
  // Blocks the cell at `x`.
  void Update(int x, const std::string& request_id = "", std::optional<std::uint64_t> expected = {}) {
    Update({.edits = {Block({x, 0})}, .expected = {.revision = expected}, .request_id = request_id});
  }

  // Moves the clock on, and returns when to come again.
  absl::Duration ExpireAfter(absl::Duration time) {
    clock_.Advance(time);
    return store_.ExpireDue(clock_.Now()) - kBegin;
  }

  PinnedSnapshot Latest() { return *store_.Pin("arena"); }
  std::uint64_t Revision() { return Latest()->revision; }
  std::string Drawn() { return DrawPath(Latest()->grid(), {})[0]; }

  // What was answered since the last call, in that order: "0: 2" if the first batch led to revision 2.
  std::vector<std::string> TakeAnswers() { return std::exchange(answers_, {}); }
  std::vector<absl::Duration> TakeTold() { return std::exchange(told_, {}); }

  FakeClock clock_;
  const absl::Time kBegin = clock_.Now();
  RecordingListener listener_;
  // The expiries that were reported.
  std::vector<absl::Duration> told_;
  std::vector<std::string> answers_;
  absl::Status last_refusal_;
  int sent_ = 0;
  MapStore store_;
};

// The same with a held log.
class HeldStoreTest : public StoreTest {
 protected:
  explicit HeldStoreTest(StoreOptions options = {}) : StoreTest(std::move(options)) {
    store_.SetLog(&log_);
    log_.Begin("arena", {.epoch = 7, .revision = 1});
  }
  ~HeldStoreTest() override { log_.LandAll(); }

  HeldLog log_;
};

}  // namespace waystar::core
