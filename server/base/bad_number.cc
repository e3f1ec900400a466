#include "server/base/bad_number.h"

#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace waystar {

absl::Status BadNumber(ErrorReason reason, absl::string_view field, double number, absl::string_view must) {
  // Enough digits to distinguish the ends of all ranges from values beyond them.
  return MakeError(reason, field,
                   absl::StrFormat("%s must be %s, got %.12g", absl::StripPrefix(field, "."), must, number));
}

}  // namespace waystar
