#include "server/rpc/telemetry/connection_count.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "grpc/grpc.h"
#include "grpc/support/alloc.h"
#include "nlohmann/json.hpp"

namespace waystar::rpc {
namespace {

using Json = nlohmann::json;

// Parses and frees text of the library. Returns no object if it is no JSON.
Json Parse(char* text) {
  const std::unique_ptr<char, void (*)(void*)> owned(text, &gpr_free);
  return text == nullptr ? Json() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Returns null if there is no such field, or `json` is no object.
const Json& FieldOf(const Json& json, const char* name) {
  static const auto& kNone = *new Json();
  const auto found = json.find(name);
  return found == json.end() ? kNone : *found;
}

// Returns a number of 64 bits, which is written as text; 0 if there is none.
std::int64_t NumberOf(const Json& json, const char* name) {
  const auto* text = FieldOf(json, name).get_ptr<const std::string*>();
  std::int64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(*text, &number) ? number : 0;
}

bool IsLast(const Json& page) {
  const auto* end = FieldOf(page, "end").get_ptr<const bool*>();
  return end != nullptr && *end;
}

}  // namespace

std::int64_t NewestServer() {
  for (std::int64_t newest = 0;;) {
    const Json page = Parse(grpc_channelz_get_servers(newest + 1));
    const std::int64_t before = newest;
    for (const Json& server : FieldOf(page, "server")) {
      newest = std::max(newest, NumberOf(FieldOf(server, "ref"), "serverId"));
    }
    if (newest == before || IsLast(page)) {
      return newest;
    }
  }
}

std::optional<std::int64_t> CountConnections(std::int64_t server) {
  constexpr std::int64_t kPage = 1'000;
  if (server == 0) {
    return std::nullopt;
  }
  std::int64_t count = 0;
  for (std::int64_t next = 0;;) {
    const Json page = Parse(grpc_channelz_get_server_sockets(server, next, kPage));
    const Json& sockets = FieldOf(page, "socketRef");
    count += static_cast<std::int64_t>(sockets.size());
    const std::int64_t last = sockets.empty() ? 0 : NumberOf(sockets.back(), "socketId");
    if (last < next || last == 0 || IsLast(page)) {
      return count;
    }
    next = last + 1;
  }
}

}  // namespace waystar::rpc
