// The batches that a map has applied under a request_id, for idempotent retries.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {

// Remembers the last `capacity` batches. Thread safety: one thread at a time.
class AppliedRequests {
 public:
  explicit AppliedRequests(std::size_t capacity) : capacity_(capacity) {}

  // Returns the batch's first result, marked as already_applied, or nothing if no batch of that id is
  // remembered. Returns INVALID_ARGUMENT / REQUEST_ID_REUSED with field "request_id" if it was another batch.
  absl::StatusOr<std::optional<UpdateResult>> Find(absl::string_view request_id,
                                                   const Fingerprint& fingerprint) const;

  // REQUIRES: no batch of that id is remembered.
  void Add(std::string request_id, const Fingerprint& fingerprint, const UpdateResult& result);

 private:
  struct Applied {
    Fingerprint fingerprint;
    UpdateResult result;
  };

  const std::size_t capacity_;
  absl::node_hash_map<std::string, Applied> by_id_;
  // The keys of by_id_, the oldest first.
  std::deque<const std::string*> in_order_;
};

}  // namespace waystar::core
