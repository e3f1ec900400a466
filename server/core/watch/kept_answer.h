// Subscribed answers of a map of any kind.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"

namespace waystar::core {

// The answer that a subscriber was sent, and the test whether a change invalidates it. Immutable.
class KeptAnswer {
 public:
  virtual ~KeptAnswer() = default;

  // Returns true if the answer may no longer hold after a change. Never false if it does not hold. `snapshot`
  // is the map after the change, of the kind that the answer is for.
  virtual bool MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const = 0;

 protected:
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
  // Appends the ids of the answers that may no longer hold. `snapshot` is the map after the changes.
  virtual void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, std::vector<Id>& ids) = 0;
};

// Creates an empty index for maps of the kind of `snapshot`.
std::unique_ptr<AnswerIndex> MakeAnswerIndex(const MapSnapshot& snapshot);

}  // namespace waystar::core
