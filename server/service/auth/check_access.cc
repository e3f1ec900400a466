#include "server/service/auth/check_access.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

constexpr RpcPermission kRpcPermissions[] = {
    {"waystar.v1.MapService.CreateMap", AccessScope::kMaps, Permission::kAdmin},
    {"waystar.v1.MapService.ImportMap", AccessScope::kMaps, Permission::kAdmin},
    {"waystar.v1.MapService.GetMap", AccessScope::kMaps, Permission::kRead},
    // The result contains readable maps only.
    {"waystar.v1.MapService.ListMaps", AccessScope::kAnyToken},
    {"waystar.v1.MapService.DeleteMap", AccessScope::kMaps, Permission::kAdmin},
    {"waystar.v1.MapService.ExportMap", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PictureService.RenderMap", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.UpdateMap", AccessScope::kMaps, Permission::kUpdate},
    {"waystar.v1.MapService.StreamUpdates", AccessScope::kMaps, Permission::kUpdate},
    {"waystar.v1.MapService.ListObstacles", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.ListPortals", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.ListNodes", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.WatchMap", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.FindPath", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.StreamFindPath", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PictureService.TraceSearch", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ValidatePaths", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.FollowAgents", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ListAgents", AccessScope::kMaps, Permission::kUpdate},
    {"waystar.v1.PathService.FindPaths", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ComputeCostMatrix", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.FindReachable", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ComputeFlowField", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.CheckReachability", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.CastRay", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.CheckMoves", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.StreamCheckMoves", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.SamplePlaces", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ProbeSurface", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ExplainPath", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.ServerService.GetServerInfo", AccessScope::kAnyToken, Permission::kRead},
    {"waystar.v1.ServerService.SetLogLevel", AccessScope::kServer, Permission::kAdmin},
    // The result contains readable maps only.
    {"waystar.v1.ServerService.GetMetrics", AccessScope::kAnyToken},
    {"waystar.v1.ServerService.ListServers", AccessScope::kAnyToken, Permission::kRead},
};

// Checks an additional map of the request, if set.
absl::Status CheckOther(const Caller& caller, const std::string& map, absl::string_view field) {
  return map.empty() ? absl::OkStatus() : caller.Check(Permission::kRead, map, field);
}

// Checks the additional maps of a query.
absl::Status CheckOthers(const Caller& caller, const v1::FindPathRequest& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckOther(caller, query.goal_map(), "goal_map"));
  return CheckOther(caller, query.inline_map().graph().auto_connect().reference_map(),
                    "inline_map.graph.auto_connect.reference_map");
}

// Checks the maps that a path crosses; the field of an error begins with `prefix`.
absl::Status CheckCrossings(const Caller& caller, const v1::Path& path, absl::string_view prefix) {
  for (int i = 0; i < path.crossings_size(); ++i) {
    const std::string& map = path.crossings(i).map();
    if (!map.empty() && !caller.MayRead(map)) {
      return CheckOther(caller, map, absl::StrCat(prefix, "crossings[", i, "].map"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const RpcPermission> RpcPermissions() { return kRpcPermissions; }

RpcPermission PermissionOfRequest(const google::protobuf::Descriptor* request) {
  const google::protobuf::DescriptorPool* const pool = request->file()->pool();
  for (const RpcPermission& row : kRpcPermissions) {
    const google::protobuf::MethodDescriptor* const method = pool->FindMethodByName(std::string(row.rpc));
    if (method != nullptr && method->input_type() == request) {
      return row;
    }
  }
  return {};
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::CreateMapRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(caller.Check(permission, request.map(), "map"));
  return CheckOther(caller, request.graph().auto_connect().reference_map(),
                    "graph.auto_connect.reference_map");
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::ImportMapRequest& request) {
  return request.has_header() ? caller.Check(permission, request.header().map(), "header.map")
                              : absl::OkStatus();
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::UpdateMapRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(caller.Check(permission, request.map(), "map"));
  for (int i = 0; i < request.edits_size(); ++i) {
    const v1::Edit& edit = request.edits(i);
    const std::string& target =
        edit.has_add_portal() ? edit.add_portal().to_map() : edit.put_portal().to_map();
    if (!target.empty() && !caller.MayRead(target)) {
      return caller.Check(
          Permission::kRead, target,
          absl::StrCat("edits[", i, edit.has_add_portal() ? "].add" : "].put", "_portal.to_map"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::FindPathRequest& request) {
  // An inline map needs no permission; a map named next to it is checked.
  const bool names_map = !request.has_inline_map() || !request.map().empty();
  WAYSTAR_RETURN_IF_ERROR(names_map ? caller.Check(permission, request.map(), "map")
                                    : caller.CheckSomewhere(permission));
  return CheckOthers(caller, request);
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::AgentChange& change) {
  if (!change.map().empty()) {
    WAYSTAR_RETURN_IF_ERROR(caller.Check(permission, change.map(), "map"));
  }
  return CheckCrossings(caller, change.held().path(), "held.path.");
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::FindPathsRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(caller.Check(permission, request.map(), "map"));
  for (int i = 0; i < request.queries_size(); ++i) {
    const std::string& map = request.queries(i).goal_map();
    if (!map.empty() && !caller.MayRead(map)) {
      return CheckOther(caller, map, absl::StrCat("queries[", i, "].goal_map"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::ValidatePathsRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(caller.Check(permission, request.map(), "map"));
  for (int i = 0; i < request.paths_size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckCrossings(caller, request.paths(i), absl::StrCat("paths[", i, "].")));
  }
  return absl::OkStatus();
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::TraceSearchRequest& request) {
  return request.has_query() ? WithFieldPrefix(CheckMaps(caller, permission, request.query()), "query.")
                             : absl::OkStatus();
}

absl::Status CheckMaps(const Caller& caller, Permission permission, const v1::RenderMapRequest& request) {
  WAYSTAR_RETURN_IF_ERROR(caller.Check(permission, request.map(), "map"));
  WAYSTAR_RETURN_IF_ERROR(CheckOther(caller, request.query().map(), "query.map"));
  return WithFieldPrefix(CheckOthers(caller, request.query()), "query.");
}

}  // namespace waystar::rpc
