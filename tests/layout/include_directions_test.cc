// Dependencies point one way: a folder includes only itself, without the folders in it, what its row below
// names, and libraries that the row allows. Link visibility cannot check this, because the distribution's
// headers all sit in one folder.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "tests/testing/folders.h"

namespace waystar {
namespace {

using ::testing::IsEmpty;

// From a folder to the prefixes that its quoted and angled includes may have, beside itself and the standard
// library's (which have no '/').
const std::map<std::string, std::vector<std::string>>& AllowedIncludes() {
  static const auto* const kAllowed = new std::map<std::string, std::vector<std::string>>{
      {"server/base/", {"absl/"}},
      {"server/geometry/", {}},
      {"server/core/grid/cells/", {"absl/", "server/base/", "server/geometry/"}},
      {"server/core/grid/shapes/", {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/"}},
      {"server/core/grid/components/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/"}},
      {"server/core/grid/jumps/", {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/"}},
      {"server/core/grid/walk/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/",
        "server/core/grid/components/", "server/core/grid/jumps/"}},
      {"server/core/elements/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/shapes/"}},
      {"server/core/grid/map/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/shapes/",
        "server/core/grid/jumps/", "server/core/grid/walk/", "server/core/elements/"}},
      {"server/core/graph/map/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/shapes/",
        "server/core/elements/"}},
      {"server/core/mesh/map/", {"absl/", "server/base/", "server/geometry/", "server/core/elements/"}},
      {"server/core/map/",
       {"absl/", "server/base/", "server/core/elements/", "server/core/grid/map/", "server/core/graph/map/",
        "server/core/mesh/map/"}},
      {"server/core/edit/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/shapes/",
        "server/core/elements/", "server/core/grid/map/", "server/core/graph/map/", "server/core/mesh/map/",
        "server/core/map/"}},
      {"server/core/store/",
       {"absl/", "server/base/", "server/core/grid/jumps/", "server/core/grid/walk/", "server/core/elements/",
        "server/core/grid/map/", "server/core/graph/map/", "server/core/map/", "server/core/edit/"}},
      {"server/core/search/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/walk/",
        "server/core/grid/map/"}},
      {"server/core/portal/", {"absl/", "server/base/"}},
      {"server/core/graph/search/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/elements/",
        "server/core/graph/map/", "server/core/search/"}},
      {"server/core/mesh/search/",
       {"absl/", "server/base/", "server/geometry/", "server/core/elements/", "server/core/mesh/map/",
        "server/core/search/"}},
      {"server/core/mesh/portal/",
       {"absl/", "server/base/", "server/geometry/", "server/core/mesh/map/", "server/core/search/",
        "server/core/portal/", "server/core/mesh/search/"}},
      {"server/core/grid/search/",
       {"absl/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/components/",
        "server/core/grid/walk/", "server/core/elements/", "server/core/grid/map/", "server/core/search/",
        "server/core/portal/"}},
      {"server/core/grid/path/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/shapes/",
        "server/core/grid/walk/", "server/core/grid/map/", "server/core/search/",
        "server/core/grid/search/"}},
      {"server/core/grid/hierarchy/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/jumps/",
        "server/core/grid/walk/", "server/core/grid/map/", "server/core/search/",
        "server/core/grid/search/"}},
      {"server/core/grid/engines/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/",
        "server/core/grid/components/", "server/core/grid/jumps/", "server/core/grid/walk/",
        "server/core/grid/map/", "server/core/search/", "server/core/grid/search/", "server/core/grid/path/",
        "server/core/grid/hierarchy/"}},
      {"server/core/grid/portal/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/",
        "server/core/grid/components/", "server/core/grid/walk/", "server/core/elements/",
        "server/core/grid/map/", "server/core/search/", "server/core/portal/", "server/core/grid/search/",
        "server/core/grid/path/", "server/core/grid/engines/"}},
      {"server/core/grid/nearest/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/components/", "server/core/grid/walk/",
        "server/core/grid/map/", "server/core/search/", "server/core/grid/search/",
        "server/core/grid/engines/"}},
      {"server/core/grid/field/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/",
        "server/core/grid/components/", "server/core/grid/jumps/", "server/core/grid/walk/",
        "server/core/elements/", "server/core/grid/map/", "server/core/search/", "server/core/portal/",
        "server/core/grid/search/", "server/core/grid/engines/", "server/core/grid/portal/",
        "server/core/grid/nearest/"}},
      {"server/core/query/",
       {"absl/",
        "server/base/",
        "server/geometry/",
        "server/core/grid/cells/",
        "server/core/grid/shapes/",
        "server/core/grid/components/",
        "server/core/grid/walk/",
        "server/core/elements/",
        "server/core/grid/map/",
        "server/core/graph/map/",
        "server/core/mesh/map/",
        "server/core/map/",
        "server/core/edit/",
        "server/core/store/",
        "server/core/search/",
        "server/core/portal/",
        "server/core/graph/search/",
        "server/core/mesh/search/",
        "server/core/mesh/portal/",
        "server/core/grid/search/",
        "server/core/grid/path/",
        "server/core/grid/engines/",
        "server/core/grid/portal/",
        "server/core/grid/nearest/",
        "server/core/grid/field/"}},
      {"server/core/watch/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/shapes/",
        "server/core/grid/components/", "server/core/grid/walk/", "server/core/elements/",
        "server/core/grid/map/", "server/core/graph/map/", "server/core/map/", "server/core/store/",
        "server/core/search/", "server/core/portal/", "server/core/graph/search/", "server/core/grid/search/",
        "server/core/grid/path/", "server/core/grid/portal/", "server/core/query/"}},
      {"server/core/codec/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/grid/shapes/",
        "server/core/elements/", "server/core/grid/map/", "server/core/graph/map/", "server/core/mesh/map/",
        "server/core/map/", "server/core/edit/"}},
      {"server/formats/text/", {"absl/", "server/base/", "server/core/grid/cells/", "server/core/grid/map/"}},
      {"server/formats/parts/",
       {"absl/", "nlohmann/", "server/base/", "server/geometry/", "server/formats/text/"}},
      {"server/formats/grid/",
       {"absl/", "webp/", "server/base/", "server/geometry/", "server/core/grid/cells/",
        "server/core/grid/shapes/", "server/core/elements/", "server/core/grid/map/", "server/core/edit/",
        "server/formats/text/", "server/formats/parts/"}},
      {"server/formats/graph/",
       {"absl/", "server/base/", "server/core/elements/", "server/core/graph/map/", "server/formats/text/",
        "server/formats/parts/"}},
      {"server/formats/mesh/",
       {"absl/", "server/base/", "server/core/elements/", "server/core/mesh/map/", "server/core/edit/",
        "server/formats/text/", "server/formats/parts/"}},
      {"server/formats/detect/",
       {"absl/", "server/base/", "server/core/grid/cells/", "server/core/map/", "server/core/codec/",
        "server/formats/text/", "server/formats/parts/", "server/formats/grid/", "server/formats/graph/",
        "server/formats/mesh/"}},
      {"server/formats/build/",
       {"absl/", "server/base/", "server/geometry/", "server/core/mesh/map/", "server/formats/text/",
        "server/formats/parts/", "server/formats/mesh/", "server/formats/detect/"}},
      {"server/render/canvas/", {"absl/"}},
      {"server/render/scene/",
       {"absl/", "server/base/", "server/geometry/", "server/core/grid/cells/", "server/core/elements/",
        "server/core/grid/map/", "server/core/graph/map/", "server/core/mesh/map/", "server/core/search/",
        "server/core/portal/", "server/core/graph/search/", "server/core/mesh/search/", "server/core/query/",
        "server/render/canvas/"}},
      {"server/render/file/", {"absl/", "server/base/", "server/render/canvas/"}},
      {"server/runtime/", {"absl/", "spdlog/", "server/base/"}},
      {"server/storage/folder/", {"absl/", "isa-l/", "server/base/", "server/core/"}},
      {"server/storage/etcd/", {"absl/", "arpa/", "grpcpp/", "openssl/", "server/base/"}},
      {"server/storage/fleet/",
       {"absl/", "server/base/", "server/core/map/", "server/core/store/", "server/core/codec/",
        "server/storage/folder/", "server/storage/etcd/"}},
      {"server/maintenance/",
       {"absl/", "server/base/", "server/core/map/", "server/core/store/", "server/core/grid/hierarchy/",
        "server/runtime/"}},
      {"server/service/transport/net/",
       {"absl/", "arpa/", "linux/", "netinet/", "server/base/", "server/runtime/"}},
      {"server/service/transport/http/",
       {"absl/", "boost/", "google/", "grpcpp/", "server/base/", "server/service/transport/net/"}},
      {"server/service/auth/",
       {"absl/", "arpa/", "google/", "grpc/", "grpcpp/", "netinet/", "openssl/", "waystar/", "server/base/",
        "server/runtime/"}},
      {"server/service/admission/",
       {"absl/", "google/", "grpc/", "grpcpp/", "waystar/", "server/base/", "server/core/", "server/runtime/",
        "server/service/auth/"}},
      {"server/service/call/",
       {"absl/", "google/", "grpc/", "grpcpp/", "server/base/", "server/core/", "server/runtime/",
        "server/service/auth/", "server/service/admission/"}},
      {"server/service/convert/",
       {"absl/", "google/", "waystar/", "server/base/", "server/geometry/", "server/core/",
        "server/formats/text/", "server/formats/detect/", "server/service/call/"}},
      {"server/service/metrics/",
       {"absl/", "google/", "grpc/", "grpcpp/", "prometheus/", "waystar/", "server/base/",
        "server/core/store/", "server/runtime/", "server/storage/folder/", "server/storage/fleet/",
        "server/maintenance/", "server/service/transport/net/", "server/service/transport/http/",
        "server/service/auth/", "server/service/admission/", "server/service/call/",
        "server/service/convert/"}},
      {"server/service/handlers/query/",
       {"absl/", "google/", "grpcpp/", "waystar/", "server/base/", "server/geometry/", "server/core/",
        "server/service/auth/", "server/service/admission/", "server/service/call/",
        "server/service/convert/", "server/service/metrics/"}},
      {"server/service/handlers/maps/",
       {"absl/", "google/", "grpcpp/", "waystar/", "server/base/", "server/geometry/", "server/core/",
        "server/formats/text/", "server/formats/detect/", "server/formats/build/", "server/render/scene/",
        "server/render/file/", "server/runtime/", "server/service/auth/", "server/service/admission/",
        "server/service/call/", "server/service/convert/", "server/service/metrics/",
        "server/service/handlers/query/"}},
      {"server/service/handlers/watch/",
       {"absl/", "google/", "grpcpp/", "waystar/", "server/base/", "server/core/store/", "server/core/query/",
        "server/core/watch/", "server/runtime/", "server/service/auth/", "server/service/admission/",
        "server/service/call/", "server/service/convert/", "server/service/metrics/",
        "server/service/handlers/query/"}},
      {"server/service/gateway/",
       {"absl/", "arpa/", "google/", "grpcpp/", "server/base/", "server/runtime/",
        "server/service/transport/http/", "server/service/auth/", "server/service/admission/",
        "server/service/call/"}},
      {"server/service/",
       {"absl/",
        "google/",
        "grpc/",
        "grpcpp/",
        "waystar/",
        "server/base/",
        "server/core/store/",
        "server/formats/detect/",
        "server/runtime/",
        "server/storage/folder/",
        "server/storage/etcd/",
        "server/storage/fleet/",
        "server/maintenance/",
        "server/service/transport/net/",
        "server/service/auth/",
        "server/service/admission/",
        "server/service/call/",
        "server/service/convert/",
        "server/service/metrics/",
        "server/service/handlers/query/",
        "server/service/handlers/maps/",
        "server/service/handlers/watch/",
        "server/service/gateway/"}},
      {"server/data_tool/",
       {"absl/", "google/", "nlohmann/", "server/base/", "server/storage/folder/",
        "server/service/convert/"}},
      // Pictures are drawn, and JSON is written, alike on both sides.
      {"client/",
       {"CLI/", "absl/", "arpa/", "google/", "grpc/", "grpcpp/", "openssl/", "waystar/", "webp/",
        "server/render/canvas/", "server/render/file/"}},
  };
  return *kAllowed;
}

// Returns the row of the folder that is nearest above a path from the root, or nothing: it alone judges what
// is in it.
std::string RowOf(absl::string_view path) {
  for (std::size_t end = path.rfind('/'); end != absl::string_view::npos; end = path.rfind('/', end - 1)) {
    const std::string folder(path.substr(0, end + 1));
    if (AllowedIncludes().count(folder) != 0) {
      return folder;
    }
    if (end == 0) {
      break;
    }
  }
  return "";
}

std::vector<std::string> IncludesOf(const std::filesystem::path& file) {
  std::vector<std::string> includes;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (absl::StartsWith(line, "#include ")) {
      includes.push_back(line.substr(10, line.size() - 11));
    }
  }
  return includes;
}

bool IsAllowed(const std::string& include, const std::string& folder,
               const std::vector<std::string>& allowed) {
  return !absl::StrContains(include, '/') || absl::StartsWith(include, "sys/") || RowOf(include) == folder ||
         std::any_of(allowed.begin(), allowed.end(),
                     [&](const std::string& prefix) { return absl::StartsWith(include, prefix); });
}

TEST(IncludeDirectionsTest, PointOneWay) {
  std::vector<std::string> faults;
  int files = 0;
  const std::filesystem::path root = testing::SourceFolder();
  for (const auto& [folder, allowed] : AllowedIncludes()) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") {
        continue;
      }
      if (RowOf(std::filesystem::relative(entry.path(), root).string()) != folder) {
        continue;
      }
      ++files;
      for (const std::string& include : IncludesOf(entry.path())) {
        if (!IsAllowed(include, folder, allowed)) {
          faults.push_back(absl::StrCat(entry.path().string(), " includes ", include));
        }
      }
    }
  }
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_GT(files, 30);
}

TEST(IncludeDirectionsTest, CoversEveryFolderOfTheServer) {
  std::vector<std::string> strays;
  const std::filesystem::path root = testing::SourceFolder();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "server")) {
    const std::string path = std::filesystem::relative(entry.path(), root).string();
    const bool is_source = entry.path().extension() == ".h" || entry.path().extension() == ".cc";
    // A row is of one folder, and not of those below it.
    const bool covered = AllowedIncludes().count(path.substr(0, path.rfind('/') + 1)) != 0;
    if (is_source && !covered && path != "server/main.cc") {
      strays.push_back(path);
    }
  }
  EXPECT_THAT(strays, IsEmpty());
}

}  // namespace
}  // namespace waystar
