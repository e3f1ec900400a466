// The interface by which a store makes its maps durable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

// Takes what happens to maps, in the order in which it happens to each of them. What it takes of a map
// follows what is durable of it, or does not become so: once an append of a map has failed, those that were
// appended upon it fail, too, until the store has heard of all of them and appends again what follows the
// last that succeeded.
//
// Thread safety: any method may be called from any thread.
class DurableLog {
 public:
  // It is called exactly once, on a thread of the log that is not within an append: with OK once what was
  // appended, and all that was appended before, survives what the log promises to survive; with UNAVAILABLE /
  // STORAGE_FAILED if it is unknown whether it does, and then no one must be told of it. Those of all appends
  // are called in their order, one at a time, with no lock of the log held.
  //
  // The store's publish, call listeners and answer updates, and after a failure wait for the group that is
  // being composed. They may append, and compose a map's next groups if StoreOptions::defer does not take
  // that over, but never wait for the log.
  using Done = absl::AnyInvocable<void(absl::Status) &&>;

  virtual ~DurableLog() = default;

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

// Makes an append with the `done` that it is given, and waits for its status. REQUIRES: the caller is no
// thread of the log, and holds no lock that a `done` takes.
absl::Status AppendAndWait(absl::FunctionRef<void(DurableLog::Done)> append);

}  // namespace waystar::core
