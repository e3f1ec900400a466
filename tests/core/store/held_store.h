// Store with a held log, and a map that is in both.
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

class HeldStoreTest : public ::testing::Test {
 protected:
  explicit HeldStoreTest(StoreOptions options = {})
      : store_([&] {
          if (options.clock == &Clock::Steady()) {
            options.clock = &clock_;
          }
          return options;
        }()) {
    store_.AddListener(&listener_);
    store_.OnEarlierExpiry([this](absl::Time expiry) { told_.push_back(expiry - kBegin); });
    store_.SetLog(&log_);
    log_.Begin("arena", {.epoch = 7, .revision = 1});
    EXPECT_THAT(store_.Restore({.snapshot = {.id = "arena",
                                             .epoch = 7,
                                             .create_time = clock_.Now(),
                                             .map = testing::DrawMap({"........", "........", "........"})}}),
                testing::IsOk());
  }
  ~HeldStoreTest() override { log_.LandAll(); }

  static std::string Text(const absl::StatusOr<UpdateResult>& answer) {
    if (!answer.ok()) {
      return ErrorReasonOf(answer.status());
    }
    return absl::StrCat(answer->revision, answer->already_applied ? " again" : "");
  }

  // The batches are numbered from 0 on.
  void Update(UpdateBatch batch) {
    store_.Update("arena", std::move(batch),
                  [this, number = sent_++](const absl::StatusOr<UpdateResult>& answer) {
                    // Whoever hears of a revision finds it.
                    if (answer.ok()) {
                      EXPECT_GE((*store_.Pin("arena"))->revision, answer->revision);
                    }
                    answers_.push_back(absl::StrCat(number, ": ", Text(answer)));
                  });
  }
  // Blocks the cell at `x`.
  void Update(int x, const std::string& request_id = "", std::optional<std::uint64_t> expected = {}) {
    Update({.edits = {testing::Block({x, 0})}, .expected = {.revision = expected}, .request_id = request_id});
  }

  std::uint64_t Revision() { return (*store_.Pin("arena"))->revision; }
  std::string Drawn() { return testing::DrawPath((*store_.Pin("arena"))->grid(), {})[0]; }

  // What was answered since the last call, in that order: "0: 2" if the first batch led to revision 2.
  std::vector<std::string> TakeAnswers() { return std::exchange(answers_, {}); }

  testing::FakeClock clock_;
  const absl::Time kBegin = clock_.Now();
  testing::RecordingListener listener_;
  // The expiries that were reported.
  std::vector<absl::Duration> told_;
  std::vector<std::string> answers_;
  int sent_ = 0;
  HeldLog log_;
  MapStore store_;
};

}  // namespace waystar::core
