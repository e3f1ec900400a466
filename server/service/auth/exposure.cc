#include "server/service/auth/exposure.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waystar::rpc {
namespace {

constexpr int kOldestMinorWithoutFaults = 57;

bool HasPublishedFaults(absl::string_view version) {
  const std::vector<absl::string_view> parts = absl::StrSplit(version, '.');
  int major = 0;
  int minor = 0;
  return parts.size() >= 2 && absl::SimpleAtoi(parts[0], &major) && absl::SimpleAtoi(parts[1], &minor) &&
         major == 1 && minor < kOldestMinorWithoutFaults;
}

}  // namespace

bool IsLocalAddress(absl::string_view listen) {
  for (const absl::string_view local : {"unix:", "unix-abstract:", "localhost:", "127.", "[::1]:",
                                        "ipv4:127.", "ipv6:[::1]", "dns:localhost:", "dns:///localhost:"}) {
    if (absl::StartsWith(listen, local)) {
      return true;
    }
  }
  return false;
}

absl::Status CheckFaults(const Listening& listening, absl::string_view library_version,
                         bool is_behind_gateway) {
  if (IsLocalAddress(listening.address) || listening.wants_certificates || is_behind_gateway ||
      !HasPublishedFaults(library_version)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "--listen=", listening.address, ": by published faults of gRPC ", library_version,
      " (CVE-2023-44487, CVE-2023-33953, CVE-2023-4785) all who reach this address can end the server before "
      "a token is asked for. Ways out: --tls_client_ca, so that clients must show certificates; "
      "--behind_gateway, if only a gateway or a private network reaches the address; or gRPC 1.57 or newer, "
      "as in the image waystar:hardened"));
}

std::vector<std::string> OpenDoors(const Listening& listening, bool is_http) {
  std::vector<std::string> doors;
  const absl::string_view address = listening.address;
  if (IsLocalAddress(address)) {
    return doors;
  }
  if (!listening.has_tls) {
    doors.push_back(
        absl::StrCat("Whoever sits between here and a client of ", address, " can read and change every call",
                     is_http ? " over HTTP" : "", ", tokens too: nothing is encrypted. ",
                     is_http ? "--http_tls with " : "", "--tls_cert and --tls_key",
                     is_http ? ", or a loopback address with a proxy in front that ends TLS, closes this."
                             : " close this."));
  }
  if (!listening.wants_tokens && !listening.wants_certificates) {
    doors.push_back(absl::StrCat("Whoever reaches ", address,
                                 " can read, change and delete every map: no token is asked for. "
                                 "--tokens_file closes this."));
  }
  return doors;
}

}  // namespace waystar::rpc
