#include "server/core/store/applied_requests.h"

#include <utility>

#include "server/base/error.h"

namespace waystar::core {

absl::StatusOr<std::optional<UpdateResult>> AppliedRequests::Find(absl::string_view request_id,
                                                                  const Fingerprint& fingerprint) const {
  const auto it = by_id_.find(request_id);
  if (it == by_id_.end()) {
    return std::optional<UpdateResult>();
  }
  if (it->second.fingerprint != fingerprint) {
    return InvalidArgument(ErrorReason::kRequestIdReused, "request_id",
                           "another batch was applied under this request_id");
  }
  UpdateResult result = it->second.result;
  result.already_applied = true;
  return std::optional(result);
}

void AppliedRequests::Add(std::string request_id, const Fingerprint& fingerprint,
                          const UpdateResult& result) {
  if (in_order_.size() == capacity_) {
    by_id_.erase(by_id_.find(*in_order_.front()));
    in_order_.pop_front();
  }
  const auto [it, is_new] = by_id_.try_emplace(std::move(request_id), Applied{fingerprint, result});
  in_order_.push_back(&it->first);
}

}  // namespace waystar::core
