#include "server/rpc/access/exposure.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace waystar::rpc {

bool IsLocalAddress(absl::string_view listen) {
  for (const absl::string_view local : {"unix:", "unix-abstract:", "localhost:", "127.", "[::1]:",
                                        "ipv4:127.", "ipv6:[::1]", "dns:localhost:", "dns:///localhost:"}) {
    if (absl::StartsWith(listen, local)) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> OpenDoors(absl::string_view listen, bool has_tls, bool asks_who) {
  std::vector<std::string> doors;
  if (IsLocalAddress(listen)) {
    return doors;
  }
  if (!has_tls) {
    doors.push_back(absl::StrCat("Whoever sits between here and a client of ", listen,
                                 " can read and change every call, tokens too: nothing is encrypted. "
                                 "--tls_cert and --tls_key close this."));
  }
  if (!asks_who) {
    doors.push_back(absl::StrCat("Whoever reaches ", listen,
                                 " can read, change and delete every map: no token is asked for. "
                                 "--tokens_file closes this."));
  }
  return doors;
}

}  // namespace waystar::rpc
