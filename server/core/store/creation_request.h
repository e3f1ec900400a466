// The request that a map was created by, for idempotent retries.
#pragma once

#include <string>

#include "server/core/edit/edit_digest.h"

namespace waystar::core {

struct CreationRequest {
  // An id that obeys CheckRequestId, or empty for none. The map remembers it with those of its updates.
  std::string request_id;
  // Of all that the request holds, so that no other request is taken for a retry.
  Fingerprint fingerprint;
};

}  // namespace waystar::core
