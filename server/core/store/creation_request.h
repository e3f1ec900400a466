// The request that created a map, for idempotent retries.
#pragma once

#include <string>

#include "server/core/edit/edit_digest.h"

namespace waystar::core {

struct CreationRequest {
  // An id that obeys CheckRequestId, or empty. The map remembers it with the ids of its updates.
  std::string request_id;
  // Covers the whole request, so that a different request is not taken for a retry.
  Fingerprint fingerprint;
};

}  // namespace waystar::core
