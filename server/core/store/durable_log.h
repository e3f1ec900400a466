// The interface by which a store makes its maps durable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/store/creation_request.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/store/map_version.h"
#include "server/core/store/store_listener.h"

namespace waystar::core {

// A commit, and the request that it came by.
struct LoggedCommit {
  SharedCommit commit;
  // Empty if the batch had none. The two below are those of AppliedRequests.
  std::string request_id;
  Fingerprint fingerprint;
  std::optional<absl::Time> request_time;
};

// What became of an append.
class AppendOutcome {
 public:
  // OK: what was appended, and all that was appended before, survives what the log promises to survive.
  // UNAVAILABLE / STORAGE_FAILED: it is unknown whether it does, and no one must be told of it.
  AppendOutcome(absl::Status status)  // NOLINT(google-explicit-constructor): a status is one.
      : status_(std::move(status)) {}
  // Another server's entry has taken the place. Nothing of the append is in the log, or ever will be.
  static AppendOutcome Conflict();

  bool is_durable() const { return status_.ok(); }
  bool is_conflict() const { return is_conflict_; }
  // An error unless it is durable; of a conflict, one that nobody else is to be told.
  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
  bool is_conflict_ = false;
};

// Takes what happens to maps, in the order in which it happens to each of them. What it takes of a map
// follows what is durable of it, or does not become so: once an append of a map has failed or conflicted,
// those that were appended upon it do so, too, until the store has heard of all of them and appends again
// what follows the last that succeeded.
//
// A log may be shared by the stores of many servers. One of its threads tells each store of what the others
// have appended, by the methods of MapStore that begin with Follow, and calls the `done`s of its own appends
// between those, in the order of the log. It never follows what a store itself has appended.
//
// While others are followed, what a store has in flight of that map is lost, and nothing more is appended
// upon that once a call to Follow has returned. So the log goes by this rule: before it follows an entry, and
// after, it looks at the map's first append that waits. If that does not follow the entries that the store
// has heard of (by epoch and revision, see MapVersion), then it and all of that map that were appended after
// it conflict; the log calls their `done`s, and looks again before it follows another entry. An append whose
// outcome is unknown is not told as a conflict, nor as lost, before the log has found out.
//
// Thread safety: any method may be called from any thread.
class DurableLog {
 public:
  // It is called exactly once, on a thread of the log that is not within an append. Those of all appends are
  // called in their order, one at a time, with no lock of the log held; in a shared log those of one map, in
  // turn with what is followed of it.
  //
  // The store's publish, end maps, call listeners and answer updates, and after a failure or a conflict wait
  // for the group that is being composed. They may append, and compose a map's next groups if
  // StoreOptions::defer does not take that over, but never wait for the log.
  using Done = absl::AnyInvocable<void(AppendOutcome) &&>;

  virtual ~DurableLog() = default;

  // Whether other servers append, too, so that appends may conflict. The store then keeps batches until they
  // are durable, to try them again. It never changes.
  virtual bool is_shared() const { return false; }

  // Returns an error if what were appended now would fail, as far as the log knows. The store refuses
  // creations and updates then before they wait behind appends whose outcome is unknown.
  virtual absl::Status WhyRefusing() const { return absl::OkStatus(); }

  // Return without waiting for storage or for a `done`: the caller may hold locks that those take. REQUIRES:
  // `commits` are not empty and follow each other.
  virtual void AppendCreation(const MapSnapshot& first, const CreationRequest& request, Done done) = 0;
  // Appends the deletion of the map of that id, whose last version is `replaced`, and the creation of the
  // new one, which become durable together. The new one has another epoch, and revisions of its own.
  virtual void AppendReplacement(const MapSnapshot& first, MapVersion replaced, Done done) = 0;
  virtual void AppendCommits(absl::string_view id, std::uint64_t epoch, std::vector<LoggedCommit> commits,
                             Done done) = 0;
  virtual void AppendDeletion(absl::string_view id, MapVersion last, Done done) = 0;
};

// Makes an append with the `done` that it is given, and waits for its outcome. REQUIRES: the caller is no
// thread of the log, and holds no lock that a `done` takes.
AppendOutcome AppendAndWait(absl::FunctionRef<void(DurableLog::Done)> append);

}  // namespace waystar::core
