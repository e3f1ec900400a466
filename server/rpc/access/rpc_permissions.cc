#include "server/rpc/access/rpc_permissions.h"

#include <string>

namespace waystar::rpc {
namespace {

constexpr RpcPermission kRpcPermissions[] = {
    {"waystar.v1.MapService.CreateMap", AccessScope::kMaps, Permission::kAdmin},
    {"waystar.v1.MapService.ImportMap", AccessScope::kMaps, Permission::kAdmin},
    {"waystar.v1.MapService.GetMap", AccessScope::kMaps, Permission::kRead},
    // Lists what may be read.
    {"waystar.v1.MapService.ListMaps", AccessScope::kAnyToken},
    {"waystar.v1.MapService.DeleteMap", AccessScope::kMaps, Permission::kAdmin},
    {"waystar.v1.MapService.ExportMap", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.RenderMap", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.UpdateObstacles", AccessScope::kMaps, Permission::kUpdate},
    {"waystar.v1.MapService.StreamObstacleUpdates", AccessScope::kMaps, Permission::kUpdate},
    {"waystar.v1.MapService.ListObstacles", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.ListPortals", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.ListNodes", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.MapService.WatchMap", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.FindPath", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.StreamFindPath", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.TraceSearch", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ValidatePath", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.WatchPath", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.FindPaths", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ComputeCostMatrix", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.FindReachable", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.ComputeFlowField", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.CheckReachability", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.CastRay", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.PathService.SampleCells", AccessScope::kMaps, Permission::kRead},
    {"waystar.v1.ServerService.GetServerInfo", AccessScope::kAnyToken, Permission::kRead},
    {"waystar.v1.ServerService.SetLogLevel", AccessScope::kServer, Permission::kAdmin},
    // Tells of maps that may be read.
    {"waystar.v1.ServerService.GetServerStatistics", AccessScope::kAnyToken},
};

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

}  // namespace waystar::rpc
