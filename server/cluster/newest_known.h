// What a server knows of etcd's newest revision, and so how old its own state may be.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace waystar::cluster {

// What etcd tells unasked may have been on its way for long, so it proves nothing of the age of a state. A
// revision that etcd answers with does: a server that has followed up to there has all that there was when it
// asked.
//
// Thread safety: one thread.
class NewestKnown {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Takes note that etcd was at that revision when it was asked, or came there before it answered. REQUIRES:
  // it was asked later than before.
  void Note(TimePoint asked, std::int64_t revision) {
    // A server that is so far behind learns its age from the oldest ones.
    constexpr std::size_t kMost = 1024;
    if (answers_.size() < kMost) {
      answers_.push_back({asked, revision});
    }
  }

  // Returns the time of the last ask that a server which has followed up to that revision has the answer of;
  // nothing if there is none since the last call.
  std::optional<TimePoint> Reach(std::int64_t revision) {
    std::optional<TimePoint> reached;
    while (!answers_.empty() && answers_.front().revision <= revision) {
      reached = answers_.front().asked;
      answers_.pop_front();
    }
    return reached;
  }

 private:
  struct Answer {
    TimePoint asked;
    std::int64_t revision = 0;
  };

  // Those that are not reached.
  std::deque<Answer> answers_;
};

}  // namespace waystar::cluster
