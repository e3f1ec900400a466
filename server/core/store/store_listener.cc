#include "server/core/store/store_listener.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {
namespace {

constexpr char kMapPayload[] = "waystar/loading-map";

// Roughly the time to load a map of several megabytes.
constexpr absl::Duration kLoadRetryDelay = absl::Milliseconds(100);

}  // namespace

bool HasNoRoom(const absl::Status& status) {
  return ErrorReasonOf(status) == ErrorReasonName(ErrorReason::kMapsMemoryFull);
}

absl::Status MapLoading(absl::string_view id) {
  absl::Status status =
      WithField(Refusal(ErrorReason::kMapLoading, kLoadRetryDelay,
                        absl::StrCat("map \"", id, "\" is not in memory, and is being loaded")),
                "map");
  status.SetPayload(kMapPayload, absl::Cord(id));
  return status;
}

std::string LoadingMapOf(const absl::Status& status) {
  const auto map = status.GetPayload(kMapPayload);
  return map ? std::string(*map) : std::string();
}

}  // namespace waystar::core
