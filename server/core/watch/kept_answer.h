// The answers that are watched on a map, whatever its kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/map/map_changes.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// What a subscriber was told, and the test whether a change makes it out of date. Immutable.
class KeptAnswer {
 public:
  virtual ~KeptAnswer() = default;

  // Returns whether the answer may not hold any more after a change. It is never false if it does not hold.
  // `snapshot` is the map after the change, which is of the kind that the answer is for.
  virtual bool MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const = 0;

 protected:
  KeptAnswer() = default;
  KeptAnswer(const KeptAnswer&) = default;
  KeptAnswer& operator=(const KeptAnswer&) = default;
};

using KeptAnswerPtr = std::shared_ptr<const KeptAnswer>;

// Index of the answers of one map that finds those which a change concerns.
//
// Thread safety: none.
class AnswerIndex {
 public:
  // The id that the caller gives a subscription.
  using Id = std::uint64_t;

  virtual ~AnswerIndex() = default;

  // Adds an answer that holds on the snapshot, which may be older than others that were seen. REQUIRES: the
  // id is not there; the answer is of the kind that AnswerRenewal makes for the map.
  virtual void Add(Id id, const KeptAnswerPtr& answer, const MapSnapshot& snapshot) = 0;
  // Does nothing if the id is not there.
  virtual void Remove(Id id) = 0;
  // Appends the ids whose answer may not hold any more. `snapshot` is the map after the changes.
  virtual void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, std::vector<Id>& ids) = 0;
};

// Makes an empty index for maps of that kind, and of that size.
std::unique_ptr<AnswerIndex> MakeAnswerIndex(const MapSnapshot& snapshot);

}  // namespace waystar::core
