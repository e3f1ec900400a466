// Interface of the log that makes the maps of a store durable, and the state of a map in storage.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/map/map_version.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {

// A commit and the request that caused it.
struct LoggedCommit {
  CommitPtr commit;
  // Empty if the batch had none. The fields below are those of AppliedRequests.
  std::string request_id;
  Fingerprint fingerprint;
  std::optional<absl::Time> request_time;
};

// Returns the answer to the batch that became the commit.
inline UpdateResult ResultOf(const Commit& commit, std::uint64_t epoch) {
  return {.epoch = epoch, .revision = commit.revision, .summary = commit.summary, .digest = commit.digest};
}

// Outcome of an append.
class AppendOutcome {
 public:
  // OK: the append and all before it are durable. UNAVAILABLE / STORAGE_FAILED: durability is unknown, and no
  // client may learn of the change.
  AppendOutcome(absl::Status status)  // NOLINT(google-explicit-constructor): a status is one.
      : status_(std::move(status)) {}
  // Another server's entry came first. Nothing of this append is in the log, or ever will be.
  static AppendOutcome Conflict() {
    AppendOutcome conflict = absl::AbortedError("another server has changed the map first");
    conflict.is_conflict_ = true;
    return conflict;
  }

  bool is_durable() const { return status_.ok(); }
  bool is_conflict() const { return is_conflict_; }
  // Not OK unless durable. The error of a conflict is internal: never send it to a client.
  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
  bool is_conflict_ = false;
};

// Log of the creations, commits and deletions of maps. Appends for one map are durable in order. After one
// fails or conflicts, all later appends for that map fail too, until their `done`s have been called and the
// store resends from the last success.
//
// A log may be shared by the stores of several servers. One log thread then delivers other servers' entries
// to each store through the MapStore::Follow methods, interleaved with the `done`s of the store's own appends
// in log order. It never delivers the store's own entries through Follow.
//
// Following an entry dooms the store's in-flight appends for that map; after a Follow call returns, nothing
// more is appended on top of them. So before and after following an entry, the log checks the map's oldest
// pending append. If it does not directly follow the last entry known to the store (by epoch and revision,
// see MapVersion), that append and all later ones for the map conflict. The log calls their `done`s, then
// checks again before following another entry. An append with unknown outcome is reported neither as a
// conflict nor as lost until the log has resolved it.
//
// Thread safety: any method may be called from any thread.
class DurableLog {
 public:
  // Called exactly once, on a log thread and never from within an append. No lock of the log is held. All
  // `done`s are called one at a time in the order of their appends; with a shared log this holds per map,
  // interleaved with the followed entries.
  //
  // The store's `done`s publish, end maps, call listeners and answer updates. After a failure or a conflict
  // they wait for the group that is being composed. They may append, and they compose the map's next groups
  // unless StoreOptions::defer takes that over, but they never wait for the log.
  using Done = absl::AnyInvocable<void(AppendOutcome) &&>;

  virtual ~DurableLog() = default;

  // True if other servers append too, so that appends may conflict. The store then keeps batches until they
  // are durable, in order to retry them. The value never changes.
  virtual bool is_shared() const { return false; }

  // Returns an error if an append would fail now, as far as the log knows. The store then refuses creations
  // and updates at once instead of queueing them behind appends with unknown outcome.
  virtual absl::Status WhyRefusing() const { return absl::OkStatus(); }

  // The Append methods return without waiting for storage or for a `done`: the caller may hold locks that
  // those take.
  // REQUIRES: `commits` is not empty, and its revisions are consecutive.
  virtual void AppendCreation(const MapSnapshot& first, const CreationRequest& request, Done done) = 0;
  // Atomically appends the deletion of the map with that id, last at version `replaced`, and the creation of
  // its successor. The successor has another epoch and its own revisions.
  virtual void AppendReplacement(const MapSnapshot& first, MapVersion replaced, Done done) = 0;
  virtual void AppendCommits(absl::string_view id, std::uint64_t epoch, std::vector<LoggedCommit> commits,
                             Done done) = 0;
  virtual void AppendDeletion(absl::string_view id, MapVersion last, Done done) = 0;
};

// A map that was read from storage, not shared yet.
struct MapState {
  MapSnapshot snapshot;
  // Contents of AppliedRequests.
  std::vector<AppliedRequest> requests;
  RequestHorizon request_horizon;
};

// A map of a store, to be written to storage.
struct StoredMap {
  PinnedSnapshot snapshot;
  std::vector<AppliedRequest> requests;
  RequestHorizon request_horizon;
};

inline StoredMap Shared(MapState state) {
  return {.snapshot = std::make_shared<const MapSnapshot>(std::move(state.snapshot)),
          .requests = std::move(state.requests),
          .request_horizon = state.request_horizon};
}

// Returns the remembered entry of the request that created the map.
inline AppliedRequest RequestOf(const MapSnapshot& first, CreationRequest request) {
  return {.request_id = std::move(request.request_id),
          .fingerprint = request.fingerprint,
          .result = {.epoch = first.epoch, .revision = first.revision, .digest = first.digest()},
          .time = first.create_time};
}

}  // namespace waystar::core
