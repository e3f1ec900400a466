// Tracks etcd's newest revision to bound the age of this server's state.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace waystar::cluster {

// Bounds the age of the server's state by etcd's answers to its requests: a server that has followed etcd up
// to the revision in an answer has all changes as of the time of the request. An unsolicited message proves
// nothing, since it may have been delayed.
//
// Thread safety: one thread.
class NewestKnown {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Records that etcd answered with `revision` to a request sent at `asked`.
  // REQUIRES: `asked` is later than in earlier calls.
  void Note(TimePoint asked, std::int64_t revision) {
    // Maximum number of answers kept. A server that is further behind learns its age from the oldest ones.
    constexpr std::size_t kMost = 1024;
    if (answers_.size() < kMost) {
      answers_.push_back({asked, revision});
    }
  }

  // Returns the latest request time whose answer is at most `revision`; nullopt if there is none since the
  // last call.
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

  // Answers with a revision not reached yet.
  std::deque<Answer> answers_;
};

}  // namespace waystar::cluster
