#include "server/service/gateway/own_site.h"

#include <arpa/inet.h>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace waystar::rpc {
namespace {

bool IsAddress(const std::string& name) {
  in6_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 || inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

bool SameName(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase({a.data(), a.size()}, {b.data(), b.size()});
}

}  // namespace

std::string NameOfHost(std::string_view host) {
  if (!host.empty() && host.front() == '[') {
    return std::string(host.substr(1, host.find(']') - 1));
  }
  return std::string(host.substr(0, host.rfind(':')));
}

bool IsOwnHost(std::string_view host, std::string_view own_name) {
  const std::string name = NameOfHost(host);
  return IsAddress(name) || SameName(name, "localhost") || (!own_name.empty() && SameName(name, own_name));
}

bool IsOwnOrigin(std::string_view origin, std::string_view host, bool is_encrypted) {
  absl::string_view rest(origin.data(), origin.size());
  return absl::ConsumePrefix(&rest, is_encrypted ? "https://" : "http://") &&
         SameName({rest.data(), rest.size()}, host);
}

}  // namespace waystar::rpc
