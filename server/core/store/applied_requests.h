// Cache of the batches that a map has applied under a request_id, for idempotent retries.
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
#include "server/core/store/update_batch.h"

namespace waystar::core {

// Limits on how long a map remembers batches. The oldest batch is forgotten once it is older than `time` and
// more than `count` batches are held, or earlier while all batches together exceed `max_bytes`.
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
  // Time of application, or request_time if that is later.
  absl::Time time;
};

// Summary of the forgotten batches.
struct RequestHorizon {
  // Latest request_time of all forgotten batches.
  absl::Time request_time = absl::InfinitePast();
  // Time from which unknown batches without a request_time count as new: all forgotten ones are then older
  // than RequestRetention::time. In the future only if one was forgotten early for lack of memory.
  absl::Time retries_until = absl::InfinitePast();

  friend bool operator==(const RequestHorizon&, const RequestHorizon&) = default;
};

// How far a request_time may lie ahead of the server's clock. The bound matters because forgetting such a
// batch for lack of memory advances the horizon for all clients.
inline constexpr absl::Duration kMaxRequestTimeLead = absl::Minutes(1);

// Remembers applied batches, and uses request_time to tell forgotten batches from new ones. The horizon is
// the latest request_time of all forgotten batches. An unknown batch whose request_time is not after the
// horizon may be a retry of a forgotten one and is rejected. A retry carries the time of its first try, so
// this works with wrong clocks.
//
// Unknown batches without a request_time are rejected while a forgotten batch is younger than
// RequestRetention::time, and taken for new ones otherwise. A retry without a request_time must therefore
// come within that time.
//
// Thread safety: one thread at a time.
class AppliedRequests {
 public:
  explicit AppliedRequests(const RequestRetention& retention) : retention_(retention) {}

  // Returns the batch's first result, marked as already_applied, or nullopt if no batch with that id has been
  // applied. Without a request_time, nullopt is certain only within RequestRetention::time.
  //
  // Errors:
  // - INVALID_ARGUMENT / REQUEST_ID_REUSED, field "request_id": a different batch has this id.
  // - INVALID_ARGUMENT / BAD_VALUE, field "request_time": more than kMaxRequestTimeLead after `now`.
  // - FAILED_PRECONDITION / REQUEST_ID_EXPIRED, field "request_time": not after the horizon, or unset while
  //   `now` is before RequestHorizon::retries_until.
  absl::StatusOr<std::optional<UpdateResult>> Find(absl::string_view request_id,
                                                   const Fingerprint& fingerprint,
                                                   std::optional<absl::Time> request_time,
                                                   absl::Time now) const;

  // Remembers a batch and forgets those past the limits. If it throws std::bad_alloc, nothing has changed.
  // REQUIRES: Find has returned nullopt for the batch.
  // REQUIRES: its revision is later than those of all other batches.
  void Add(std::string request_id, const Fingerprint& fingerprint, std::optional<absl::Time> request_time,
           const UpdateResult& result, absl::Time now);

  // Remembers a batch applied by another server, which may have forgotten an earlier batch of that id: a
  // batch of the same id is replaced, in linear time. Otherwise the same as Add.
  void Follow(std::string request_id, const Fingerprint& fingerprint, std::optional<absl::Time> request_time,
              const UpdateResult& result, absl::Time now);

  // Forgets the batches with later revisions, because they were rolled back. Batches that were evicted to
  // make room for them are not restored, nor is the horizon.
  void TakeBackAfter(std::uint64_t revision);

  // Forgets all but the newest RequestRetention::count batches, to free memory for maps.
  void ForgetMost();

  // Returns the batches with revisions up to `revision`, in the order of application.
  std::vector<AppliedRequest> UpTo(std::uint64_t revision) const;
  const RequestHorizon& horizon() const { return horizon_; }
  // Restores batches written by UpTo, in their order. If several have the same id, the last one counts.
  // REQUIRES: nothing was added.
  void Restore(std::vector<AppliedRequest> requests, const RequestHorizon& horizon);

  // Returns the approximate memory in bytes.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Applied {
    Fingerprint fingerprint;
    UpdateResult result;
    // InfinitePast() if the batch had no request_time.
    absl::Time request_time;
    absl::Time forget_after;
  };
  using Entry = std::pair<const std::string, Applied>;

  static std::size_t BytesOf(const Entry& entry);
  void ForgetFirst();

  RequestRetention retention_;
  // A standard container: a failed allocation leaves it unchanged.
  std::unordered_map<std::string, Applied, IdHash, std::equal_to<>> by_id_;
  // The entries of by_id_ in the order of insertion.
  std::deque<const Entry*> in_order_;
  std::size_t bytes_ = 0;
  RequestHorizon horizon_;
};

}  // namespace waystar::core
