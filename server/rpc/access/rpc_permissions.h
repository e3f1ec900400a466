// What each RPC asks of a token. A new RPC gets a row here.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"
#include "server/rpc/access/permission.h"

namespace waystar::rpc {

// Where a token must have the permission.
enum class AccessScope : std::uint8_t {
  // Nowhere: any token will do.
  kAnyToken,
  // On the map that the request is about. Other maps that it names must be readable.
  kMaps,
  // On "*": the RPC is about the server.
  kServer,
};

struct RpcPermission {
  // Full name of the RPC.
  absl::string_view rpc;
  AccessScope scope = AccessScope::kServer;
  Permission permission = Permission::kAdmin;
};

absl::Span<const RpcPermission> RpcPermissions();

// Of the RPC that takes requests of that type; the strictest there is if it has no row. Compares with each
// row: to be asked once for each type.
RpcPermission PermissionOfRequest(const google::protobuf::Descriptor* request);

}  // namespace waystar::rpc
