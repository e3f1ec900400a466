#include "client/inspect/methods.h"

#include <algorithm>
#include <array>

namespace waystar::inspect {
namespace {

using Kind = Method::Kind;

constexpr std::array kMethods = {
    Method{"waystar.v1.MapService/ListMaps", Kind::kQuestion},
    Method{"waystar.v1.MapService/GetMap", Kind::kQuestion},
    Method{"waystar.v1.MapService/ListObstacles", Kind::kQuestion},
    Method{"waystar.v1.MapService/ListNodes", Kind::kQuestion},
    Method{"waystar.v1.MapService/ListPortals", Kind::kQuestion},
    Method{"waystar.v1.MapService/ExportMap", Kind::kTransfer},
    Method{"waystar.v1.MapService/WatchMap", Kind::kWatch},
    Method{"waystar.v1.MapService/UpdateObstacles", Kind::kUpdate},
    Method{"waystar.v1.PathService/FindPath", Kind::kQuestion},
    Method{"waystar.v1.PathService/WatchPath", Kind::kWatch},
    Method{"waystar.v1.PathService/TraceSearch", Kind::kTransfer},
    Method{"waystar.v1.ServerService/GetServerInfo", Kind::kQuestion},
};

}  // namespace

const Method* FindMethod(std::string_view name) {
  const auto method =
      std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& each) { return each.name == name; });
  return method == kMethods.end() ? nullptr : method;
}

}  // namespace waystar::inspect
