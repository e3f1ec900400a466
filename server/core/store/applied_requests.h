// The batches that a map has applied under a request_id, for idempotent retries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/edit/edit_digest.h"
#include "server/core/store/id_hash.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {

// How long a map remembers batches. A batch is forgotten once it is older than `time` and not one of the last
// `count`, and before that while all together take more than `max_bytes`. Batches are forgotten in the order
// in which they were applied.
struct RequestRetention {
  absl::Duration time = absl::Minutes(10);
  std::size_t count = 10'000;
  std::size_t max_bytes = std::size_t{64} << 20;
};

// A batch that was applied under a request_id.
struct AppliedRequest {
  std::string request_id;
  Fingerprint fingerprint;
  std::optional<absl::Time> request_time;
  UpdateResult result;
  // When it was applied, or its request_time if that is later.
  absl::Time time;
};

// What is remembered of batches that were forgotten.
struct RequestHorizon {
  // The latest request_time of them all.
  absl::Time request_time = absl::InfinitePast();
  // When the last of them reaches the age of RequestRetention::time. This lies ahead while a batch is
  // forgotten early, for want of memory, of which a retry may come in time.
  absl::Time retries_until = absl::InfinitePast();

  friend bool operator==(const RequestHorizon&, const RequestHorizon&) = default;
};

// How far a request_time may lie ahead of the server's clock. A client whose clock is ahead moves the horizon
// for all others when its batches are forgotten for want of memory.
inline constexpr absl::Duration kMaxRequestTimeLead = absl::Minutes(1);

// Remembers batches, and tells those that it has forgotten from those that it has not seen by their
// request_time: the latest one of all forgotten batches is the horizon, and a batch that is unknown and no
// later than the horizon may be a retry of one that was forgotten. A retry bears the time of its first try,
// so that no clock needs to be right for this. Batches without a request_time cannot be told apart. They are
// refused while a batch is forgotten that is younger than RequestRetention::time, and else taken to be new.
// So a retry without a request_time must come within that time.
//
// Thread safety: one thread at a time.
class AppliedRequests {
 public:
  explicit AppliedRequests(const RequestRetention& retention) : retention_(retention) {}

  // Returns the batch's first result, marked as already_applied, or nothing if no batch of that id has been
  // applied: for certain with a request_time, else within RequestRetention::time. Returns INVALID_ARGUMENT /
  // REQUEST_ID_REUSED with field "request_id" if it was another batch. Of batches that are not remembered,
  // returns INVALID_ARGUMENT / BAD_VALUE if the time is more than kMaxRequestTimeLead after `now`, and
  // FAILED_PRECONDITION / REQUEST_ID_EXPIRED if it is no later than the horizon, or if there is none and
  // `now` is before RequestHorizon::retries_until, all with field "request_time".
  absl::StatusOr<std::optional<UpdateResult>> Find(absl::string_view request_id,
                                                   const Fingerprint& fingerprint,
                                                   std::optional<absl::Time> request_time,
                                                   absl::Time now) const;

  // Remembers a batch, and forgets others. Throws std::bad_alloc if there is no memory, and has done nothing
  // then. REQUIRES: Find has returned nothing for it, and its revision is
  // later than those of all others.
  void Add(std::string request_id, const Fingerprint& fingerprint, std::optional<absl::Time> request_time,
           const UpdateResult& result, absl::Time now);

  // As Add, for a batch that another server has applied, which may have forgotten one of that id earlier than
  // this one: the last counts. The time grows with their number if this one remembers it.
  void Follow(std::string request_id, const Fingerprint& fingerprint, std::optional<absl::Time> request_time,
              const UpdateResult& result, absl::Time now);

  // Forgets the batches that led to later revisions: they were not applied after all. Those that were
  // forgotten to make room for them, and the horizon, stay as they are.
  void TakeBackAfter(std::uint64_t revision);

  // Forgets all but the last `count` of the retention, to make room for maps.
  void ForgetMost();

  // Returns those that led to a revision or earlier ones, in the order in which they were applied.
  std::vector<AppliedRequest> UpTo(std::uint64_t revision) const;
  const RequestHorizon& horizon() const { return horizon_; }
  // Remembers what another one remembered, in its order. Of batches of one id, which are there if the first
  // was forgotten before the second came, the last counts. REQUIRES: nothing was added.
  void Restore(std::vector<AppliedRequest> requests, const RequestHorizon& horizon);

  // Returns approximately the bytes of memory that it takes.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Applied {
    Fingerprint fingerprint;
    UpdateResult result;
    // InfinitePast() if the batch had none.
    absl::Time request_time;
    absl::Time forget_after;
  };
  using Entry = std::pair<const std::string, Applied>;

  static std::size_t BytesOf(const Entry& entry);
  void ForgetFirst();

  RequestRetention retention_;
  // Of the standard library, whose tables are as they were after an allocation has failed.
  std::unordered_map<std::string, Applied, IdHash, std::equal_to<>> by_id_;
  // The entries of by_id_ in the order in which they were added.
  std::deque<const Entry*> in_order_;
  std::size_t bytes_ = 0;
  RequestHorizon horizon_;
};

}  // namespace waystar::core
