#include "server/core/store/applied_requests.h"

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

// Overhead per entry in the table and the list: next pointer, hash, bucket, list pointer, allocator header.
constexpr std::size_t kOverheadBytes = 40;

}  // namespace

std::size_t AppliedRequests::BytesOf(const Entry& entry) {
  // Short ids are stored inside the string object.
  static const std::size_t inner_capacity = std::string().capacity();
  const std::size_t capacity = entry.first.capacity();
  return sizeof(Entry) + kOverheadBytes + (capacity > inner_capacity ? capacity + 1 + sizeof(void*) : 0);
}

absl::StatusOr<std::optional<UpdateResult>> AppliedRequests::Find(absl::string_view request_id,
                                                                  const Fingerprint& fingerprint,
                                                                  std::optional<absl::Time> request_time,
                                                                  absl::Time now) const {
  if (const auto it = by_id_.find(request_id); it != by_id_.end()) {
    if (it->second.fingerprint != fingerprint) {
      return MakeError(ErrorReason::kRequestIdReused, "request_id", "another request has this request_id");
    }
    UpdateResult result = it->second.result;
    result.already_applied = true;
    return std::optional(result);
  }
  if (request_time && *request_time > now + kMaxRequestTimeLead) {
    return MakeError(ErrorReason::kBadValue, "request_time",
                     absl::StrCat("request_time is ", absl::FormatDuration(*request_time - now),
                                  " ahead of the server's clock"));
  }
  if (request_time && *request_time <= horizon_.request_time) {
    return MakeError(
        ErrorReason::kRequestIdExpired, "request_time",
        absl::StrCat("the batch may have been applied before: the map has forgotten batches that "
                     "were first sent at ",
                     absl::FormatTime(horizon_.request_time, absl::UTCTimeZone()), ", and this one was at ",
                     absl::FormatTime(*request_time, absl::UTCTimeZone())));
  }
  if (!request_time && now < horizon_.retries_until) {
    return MakeError(
        ErrorReason::kRequestIdExpired, "request_time",
        absl::StrCat(
            "the batch may have been applied before: the map has forgotten request_ids early, for want "
            "of memory, and until ",
            absl::FormatTime(horizon_.retries_until, absl::UTCTimeZone()),
            " this may be a retry of one of them. A request_time, which is the time of the first "
            "try, or a larger --max_request_ids_mib helps"));
  }
  return std::optional<UpdateResult>();
}

void AppliedRequests::Add(std::string request_id, const Fingerprint& fingerprint,
                          std::optional<absl::Time> request_time, const UpdateResult& result,
                          absl::Time now) {
  Applied applied{.fingerprint = fingerprint,
                  .result = result,
                  .request_time = request_time.value_or(absl::InfinitePast())};
  // A request_time ahead of the clock delays expiry too; otherwise the horizon would lie in the future.
  applied.forget_after = std::max(now, applied.request_time) + retention_.time;
  const auto [it, is_new] = by_id_.try_emplace(std::move(request_id), applied);
  absl::Cleanup take_back = [&, added = it] { by_id_.erase(added); };
  in_order_.push_back(&*it);
  std::move(take_back).Cancel();
  bytes_ += BytesOf(*it);
  while (bytes_ > retention_.max_bytes ||
         (in_order_.size() > retention_.count && in_order_.front()->second.forget_after <= now)) {
    ForgetFirst();
  }
}

void AppliedRequests::Follow(std::string request_id, const Fingerprint& fingerprint,
                             std::optional<absl::Time> request_time, const UpdateResult& result,
                             absl::Time now) {
  if (const auto it = by_id_.find(request_id); it != by_id_.end()) {
    bytes_ -= BytesOf(*it);
    std::erase(in_order_, &*it);
    by_id_.erase(it);
  }
  Add(std::move(request_id), fingerprint, request_time, result, now);
}

std::vector<AppliedRequest> AppliedRequests::UpTo(std::uint64_t revision) const {
  std::vector<AppliedRequest> requests;
  for (const Entry* const entry : in_order_) {
    const auto& [id, applied] = *entry;
    if (applied.result.revision > revision) {
      break;
    }
    AppliedRequest request{.request_id = id,
                           .fingerprint = applied.fingerprint,
                           .result = applied.result,
                           .time = applied.forget_after - retention_.time};
    if (applied.request_time != absl::InfinitePast()) {
      request.request_time = applied.request_time;
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

void AppliedRequests::Restore(std::vector<AppliedRequest> requests, const RequestHorizon& horizon) {
  horizon_ = horizon;
  std::vector<bool> is_last(requests.size());
  {
    absl::flat_hash_set<absl::string_view> later;
    for (std::size_t i = requests.size(); i-- > 0;) {
      is_last[i] = later.insert(requests[i].request_id).second;
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (is_last[i]) {
      AppliedRequest& request = requests[i];
      Add(std::move(request.request_id), request.fingerprint, request.request_time, request.result,
          request.time);
    }
  }
}

void AppliedRequests::TakeBackAfter(std::uint64_t revision) {
  while (!in_order_.empty() && in_order_.back()->second.result.revision > revision) {
    const Entry& last = *in_order_.back();
    bytes_ -= BytesOf(last);
    in_order_.pop_back();
    by_id_.erase(by_id_.find(last.first));
  }
}

void AppliedRequests::ForgetMost() {
  while (in_order_.size() > retention_.count) {
    ForgetFirst();
  }
}

void AppliedRequests::ForgetFirst() {
  const Entry& first = *in_order_.front();
  horizon_.request_time = std::max(horizon_.request_time, first.second.request_time);
  horizon_.retries_until = std::max(horizon_.retries_until, first.second.forget_after);
  bytes_ -= BytesOf(first);
  in_order_.pop_front();
  by_id_.erase(by_id_.find(first.first));
}

}  // namespace waystar::core
