// Subscribed answers of a map of any kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/watch/course.h"

namespace waystar::core {

// The most that a change may do to an answer.
enum class ChangeEffect : std::uint8_t {
  // The answer holds.
  kNone,
  // The path can be walked at the same cost, but another may be cheaper.
  kCheaper,
  // The answer may not hold.
  kEnd,
};

// The answer that a subscriber was sent, and the test whether a change invalidates it. Immutable.
class KeptAnswer {
 public:
  virtual ~KeptAnswer() = default;

  // Returns the effect of a change. `snapshot` is the map after it, of the kind that the answer is for.
  virtual ChangeEffect EffectOf(const MapChanges& changes, const MapSnapshot& snapshot) const = 0;

  // Returns about how much memory the answer takes, with its course and its place in the index.
  virtual std::size_t bytes() const = 0;

  // Returns the course of the path; empty without one. `snapshot` is the map that the answer is for.
  virtual Course CourseOn(const MapSnapshot& snapshot) const = 0;
  // Returns the rest of the answer for an agent that has come to that place of the course; null if it is
  // unknown, or cannot be walked on `snapshot`, a later revision of the map. The rest holds there if no
  // change since the answer's revision ends it.
  virtual std::shared_ptr<const KeptAnswer> Rest(const Course::Place& place,
                                                 const MapSnapshot& snapshot) const = 0;

 protected:
  // Memory of an answer in AnswerIndex.
  static constexpr std::size_t kIndexBytes = 600;

  KeptAnswer() = default;
  KeptAnswer(const KeptAnswer&) = default;
  KeptAnswer& operator=(const KeptAnswer&) = default;
};

using KeptAnswerPtr = std::shared_ptr<const KeptAnswer>;

// Index of the answers of one map; finds those that a change affects. A change costs a short test for each
// answer, and more for those near it.
//
// Thread safety: none.
class AnswerIndex {
 public:
  // Caller-assigned id of a subscription.
  using Id = std::uint64_t;

  virtual ~AnswerIndex() = default;

  // REQUIRES: the id is not present; the answer is of the kind that AnswerRenewal makes for the map.
  virtual void Add(Id id, const KeptAnswerPtr& answer) = 0;
  // Does nothing if the id is not present.
  virtual void Remove(Id id) = 0;
  struct Affected {
    // Answers that may end.
    std::vector<Id> ends;
    // Answers whose path can be walked, while another may be cheaper.
    std::vector<Id> cheaper;
    // The rests of answers whose subscribers have walked, unless they may end.
    std::vector<std::pair<Id, KeptAnswerPtr>> rests;
  };
  // Returns what is left of an answer that has this effect, as KeptAnswer::Rest does, or null.
  using RestOf = absl::FunctionRef<KeptAnswerPtr(Id, ChangeEffect)>;
  // Finds the answers that a change affects. `snapshot` is the map after it.
  virtual void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, RestOf rest_of,
                            Affected& affected) = 0;
  // Appends the ids of the answers that a change affects as a whole, wherever their subscribers are.
  void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, std::vector<Id>& ids) {
    Affected affected;
    FindAffected(
        changes, snapshot, [](Id /*id*/, ChangeEffect /*effect*/) { return nullptr; }, affected);
    ids.insert(ids.end(), affected.ends.begin(), affected.ends.end());
    ids.insert(ids.end(), affected.cheaper.begin(), affected.cheaper.end());
  }
};

// Creates an empty index for maps of the kind of `snapshot`.
std::unique_ptr<AnswerIndex> MakeAnswerIndex(const MapSnapshot& snapshot);

}  // namespace waystar::core
