#include "server/runtime/version.h"

namespace waystar::runtime {

absl::string_view Version() { return WAYSTAR_VERSION; }

}  // namespace waystar::runtime
