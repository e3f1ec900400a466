#include "server/rpc/connection_count.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "grpc/grpc.h"
#include "grpc/support/alloc.h"

namespace waystar::rpc {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;

// Takes what the library allocated.
Struct Parse(char* text) {
  const std::unique_ptr<char, void (*)(void*)> owned(text, &gpr_free);
  Struct object;
  if (text != nullptr && !google::protobuf::util::JsonStringToMessage(text, &object).ok()) {
    object.Clear();
  }
  return object;
}

// Empty ones if there are none such.
const ListValue& ListOf(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? ListValue::default_instance() : found->second.list_value();
}

const Struct& ObjectOf(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? Struct::default_instance() : found->second.struct_value();
}

std::string TextOf(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? "" : found->second.string_value();
}

// 0 if there is none.
std::int64_t NumberOf(const Struct& object, const std::string& name) {
  std::int64_t number = 0;
  return absl::SimpleAtoi(TextOf(object, name), &number) ? number : 0;
}

bool IsLast(const Struct& page) {
  const auto found = page.fields().find("end");
  return found != page.fields().end() && found->second.bool_value();
}

}  // namespace

std::int64_t NewestServer() {
  for (std::int64_t newest = 0;;) {
    const Struct page = Parse(grpc_channelz_get_servers(newest + 1));
    const ListValue& servers = ListOf(page, "server");
    for (const auto& server : servers.values()) {
      newest = std::max(newest, NumberOf(ObjectOf(server.struct_value(), "ref"), "serverId"));
    }
    if (servers.values().empty() || IsLast(page)) {
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
    const Struct page = Parse(grpc_channelz_get_server_sockets(server, next, kPage));
    const ListValue& sockets = ListOf(page, "socketRef");
    count += sockets.values_size();
    if (sockets.values().empty() || IsLast(page)) {
      return count;
    }
    next = NumberOf(sockets.values(sockets.values_size() - 1).struct_value(), "socketId") + 1;
  }
}

}  // namespace waystar::rpc
