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
#include "waystar/v1/picture_service.pb.h"

namespace waystar::rpc {

// Maps on which a token must have the permission.
enum class AccessScope : std::uint8_t {
  // None: any token is sufficient.
  kAnyToken,
  // The map of the request. Other maps that it names must be readable.
  kMaps,
  // All maps, as "*": the RPC concerns the whole server.
  kServer,
};

struct RpcPermission {
  // Full name of the RPC.
  absl::string_view rpc;
  AccessScope scope = AccessScope::kServer;
  Permission permission = Permission::kAdmin;
};

absl::Span<const RpcPermission> RpcPermissions();

// Returns the row of the RPC that takes requests of that type, or the strictest permission if there is none.
// Linear in the number of rows; call it once per type.
RpcPermission PermissionOfRequest(const google::protobuf::Descriptor* request);

// Checks that the caller has `permission` on a request's map and may read all other maps that it names. Add
// an overload for each request that names maps in fields other than `map`; an absent field names none.
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::CreateMapRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::ImportMapRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::UpdateMapRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::FindPathRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::AgentChange& change);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::FindPathsRequest& request);
absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::ValidatePathsRequest& request);
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

// Checks by the table that the caller may make the request. It only uses the request, so a caller without
// permission learns nothing about maps. Costs a branch if no tokens are required. Returns the errors of
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

// Checks, as CheckAccess does, a part of such a request that contains all its map names.
template <typename Request, typename Part>
absl::Status CheckPartAccess(const Caller& caller, const Part& part) {
  return caller.is_anyone() ? absl::OkStatus() : CheckMaps(caller, PermissionOf<Request>().permission, part);
}

// Checks a stream of such requests before its first message: the caller must have the permission on some map.
template <typename Request>
absl::Status CheckStreamAccess(const Caller& caller) {
  return caller.is_anyone() ? absl::OkStatus() : caller.CheckSomewhere(PermissionOf<Request>().permission);
}

}  // namespace waystar::rpc
