#include "server/core/store/update_batch.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {

absl::Status CheckRequestId(absl::string_view id) {
  if (!id.empty() && id.size() <= kMaxRequestIdBytes && std::all_of(id.begin(), id.end(), [](char c) {
        return absl::ascii_isprint(static_cast<unsigned char>(c));
      })) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, "request_id",
                   absl::StrCat("a request_id has 1 to ", kMaxRequestIdBytes, " printable ASCII characters"));
}

absl::Status CheckEpoch(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected) {
  if (!expected.epoch || *expected.epoch == version.epoch) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kMapReplaced, "expected_version.epoch",
                   absl::StrCat("map \"", id, "\" is of epoch ", version.epoch, ", not ", *expected.epoch));
}

absl::Status CheckRevision(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected) {
  if (!expected.revision || *expected.revision == version.revision) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorReason::kStaleRevision, "expected_version",
      absl::StrCat("map \"", id, "\" is at revision ", version.revision, ", not ", *expected.revision));
}

absl::Status CheckVersion(absl::string_view id, const MapVersion& version, const ExpectedVersion& expected) {
  WAYSTAR_RETURN_IF_ERROR(CheckEpoch(id, version, expected));
  return CheckRevision(id, version, expected);
}

namespace {

bool IsLowerOrDigit(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_islower(byte) || absl::ascii_isdigit(byte);
}

bool IsMapIdChar(char c) { return IsLowerOrDigit(c) || c == '_' || c == '.' || c == '-'; }

}  // namespace

absl::Status CheckMapId(absl::string_view id) {
  if (!id.empty() && id.size() <= kMaxMapIdBytes && IsLowerOrDigit(id.front()) &&
      std::all_of(id.begin(), id.end(), IsMapIdChar)) {
    return absl::OkStatus();
  }
  const absl::string_view shown = id.substr(0, kMaxMapIdBytes);
  return MakeError(
      ErrorReason::kBadMapId, "map",
      absl::StrCat("a map's id has 1 to ", kMaxMapIdBytes,
                   " of a-z, 0-9, '_', '.' and '-', and begins with a letter or digit; this is \"",
                   absl::CHexEscape(shown), shown.size() < id.size() ? "…" : "", "\""));
}

}  // namespace waystar::core
