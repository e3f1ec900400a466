// What each RPC asks of a token, and whether a caller may make a request. A new RPC gets a row in
// check_access.cc.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/access/token.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"

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

// Whether the caller has `permission` on the map that a request is about, and may read every other that it
// names. One that names maps in other fields than `map` has a function of its own here; a part of the request
// that is not there names none.
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

// Whether the caller may make the request, by the table of RPCs. Looks at nothing but the request, so that
// who may not make it learns nothing. Costs a branch if no tokens are asked for. Errors of Caller::Check, the
// field being that of the request which names the map.
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

// The same for a part of a request of that type, which is all that it says of maps.
template <typename Request, typename Part>
absl::Status CheckPartAccess(const Caller& caller, const Part& part) {
  return caller.is_anyone() ? absl::OkStatus() : CheckMaps(caller, PermissionOf<Request>().permission, part);
}

// The same for a stream of such requests, before the first: whether the caller might make any.
template <typename Request>
absl::Status CheckStreamAccess(const Caller& caller) {
  return caller.is_anyone() ? absl::OkStatus() : caller.CheckSomewhere(PermissionOf<Request>().permission);
}

}  // namespace waystar::rpc
