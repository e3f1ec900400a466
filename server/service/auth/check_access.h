// Permissions that RPCs require, and the check of requests. A new RPC gets a row in check_access.cc.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"
#include "server/service/auth/caller.h"
#include "server/service/auth/token.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// The maps on which a token must have the permission.
enum class AccessScope : std::uint8_t {
  // None: any token will do.
  kAnyToken,
  // The map of the request. Other maps that it names must be readable.
  kMaps,
  // All, as "*": the RPC concerns the whole server.
  kServer,
};

struct RpcPermission {
  // Full name of the RPC.
  absl::string_view rpc;
  AccessScope scope = AccessScope::kServer;
  Permission permission = Permission::kAdmin;
};

absl::Span<const RpcPermission> RpcPermissions();

// Returns the row of the RPC that takes requests of that type, or the strictest permission there is if it has
// no row. It compares with each row, so it is to be called once a type.
RpcPermission PermissionOfRequest(const google::protobuf::Descriptor* request);

// Checks that the caller has `permission` on a request's map and may read every other that it names. A
// request that names maps in other fields than `map` has an overload here; an absent part names none.
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::CreateMapRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::ImportMapRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission,
                       const v1::UpdateObstaclesRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::FindPathRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::FindPathsRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::ValidatePathRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::TraceSearchRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::RenderMapRequest& request);

template <typename Request>
absl::Status CheckMaps(const Caller& caller, Permission permission, const Request& request) {
  if constexpr (requires { absl::string_view(request.map()); }) {
    return caller.Check(permission, request.map(), "map");
  } else {
    return caller.CheckEverywhere(permission);
  }
}

template <typename Request>
const RpcPermission& PermissionOf() {
  static const RpcPermission kPermission = PermissionOfRequest(Request::descriptor());
  return kPermission;
}

// Checks by the table that the caller may make the request. It looks at the request alone, so that a caller
// without permission learns nothing. Costs a branch if no tokens are required. Returns the errors of
// Caller::Check, with the request's field that names the map.
template <typename Request>
absl::Status CheckAccess(const Caller& caller, const Request& request) {
  if (caller.is_anyone()) {
    return absl::OkStatus();
  }
  const RpcPermission& row = PermissionOf<Request>();
  switch (row.scope) {
    case AccessScope::kAnyToken:
      return absl::OkStatus();
    case AccessScope::kMaps:
      return CheckMaps(caller, row.permission, request);
    case AccessScope::kServer:
      break;
  }
  return caller.CheckEverywhere(row.permission);
}

// The same for a part of a request of that type, which holds all that the request says of maps.
template <typename Request, typename Part>
absl::Status CheckPartAccess(const Caller& caller, const Part& part) {
  return caller.is_anyone() ? absl::OkStatus() : CheckMaps(caller, PermissionOf<Request>().permission, part);
}

// The same for a stream of such requests before its first: checks that the caller might make any.
template <typename Request>
absl::Status CheckStreamAccess(const Caller& caller) {
  return caller.is_anyone() ? absl::OkStatus() : caller.CheckSomewhere(PermissionOf<Request>().permission);
}

}  // namespace waystar::rpc
