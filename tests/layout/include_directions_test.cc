// Dependencies point one way: a folder includes only itself, what its row below names, and libraries that the
// row allows. Link visibility cannot check this, because the distribution's headers all sit in one folder.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
      {"server/picture/", {"absl/", "server/base/"}},
      {"server/core/grid/", {"absl/", "server/base/"}},
      {"server/core/components/", {"absl/", "server/base/", "server/core/grid/"}},
      {"server/core/jump_index/", {"absl/", "server/base/", "server/core/grid/"}},
      {"server/core/walk/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/components/", "server/core/jump_index/"}},
      {"server/core/shape/", {"absl/", "server/base/", "server/core/grid/"}},
      {"server/core/map/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/shape/", "server/core/jump_index/",
        "server/core/walk/"}},
      {"server/core/graph/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/shape/", "server/core/map/"}},
      {"server/core/mesh/",
       {"absl/", "server/base/", "server/core/shape/", "server/core/map/", "server/core/graph/"}},
      {"server/core/kind/", {"server/base/", "server/core/map/", "server/core/graph/", "server/core/mesh/"}},
      {"server/core/edit/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/shape/", "server/core/map/",
        "server/core/graph/", "server/core/mesh/", "server/core/kind/"}},
      {"server/core/search/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/components/", "server/core/shape/",
        "server/core/walk/", "server/core/map/"}},
      {"server/core/path/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/shape/", "server/core/walk/",
        "server/core/map/", "server/core/search/"}},
      {"server/core/hierarchy/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/jump_index/", "server/core/walk/",
        "server/core/map/", "server/core/search/"}},
      {"server/core/engine/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/components/", "server/core/jump_index/",
        "server/core/walk/", "server/core/map/", "server/core/search/", "server/core/path/",
        "server/core/hierarchy/"}},
      {"server/core/portal/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/components/", "server/core/walk/",
        "server/core/map/", "server/core/search/", "server/core/path/", "server/core/engine/"}},
      {"server/core/nearest/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/components/", "server/core/walk/",
        "server/core/map/", "server/core/search/", "server/core/path/", "server/core/engine/"}},
      {"server/core/field/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/components/", "server/core/jump_index/",
        "server/core/walk/", "server/core/map/", "server/core/search/", "server/core/engine/",
        "server/core/portal/", "server/core/nearest/"}},
      {"server/core/graph_search/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/shape/", "server/core/map/",
        "server/core/graph/", "server/core/search/"}},
      {"server/core/mesh_search/",
       {"absl/", "server/base/", "server/core/shape/", "server/core/graph/", "server/core/mesh/",
        "server/core/search/"}},
      {"server/core/mesh_portal/",
       {"absl/", "server/base/", "server/core/graph/", "server/core/mesh/", "server/core/search/",
        "server/core/portal/", "server/core/mesh_search/"}},
      {"server/core/query/",
       {"absl/",
        "server/base/",
        "server/core/grid/",
        "server/core/shape/",
        "server/core/components/",
        "server/core/walk/",
        "server/core/map/",
        "server/core/graph/",
        "server/core/mesh/",
        "server/core/edit/",
        "server/core/search/",
        "server/core/path/",
        "server/core/engine/",
        "server/core/portal/",
        "server/core/nearest/",
        "server/core/field/",
        "server/core/graph_search/",
        "server/core/mesh_search/",
        "server/core/mesh_portal/",
        "server/core/store/"}},
      {"server/core/format/", {"absl/", "server/base/", "server/core/grid/", "server/core/map/"}},
      {"server/core/store/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/jump_index/", "server/core/walk/",
        "server/core/map/", "server/core/graph/", "server/core/mesh/", "server/core/kind/",
        "server/core/edit/"}},
      {"server/core/watch/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/shape/", "server/core/components/",
        "server/core/walk/", "server/core/map/", "server/core/graph/", "server/core/search/",
        "server/core/path/", "server/core/portal/", "server/core/graph_search/", "server/core/query/",
        "server/core/store/"}},
      {"server/core/render/",
       {"absl/", "server/base/", "server/picture/", "server/core/grid/", "server/core/shape/",
        "server/core/map/", "server/core/graph/", "server/core/mesh/", "server/core/search/",
        "server/core/graph_search/", "server/core/mesh_search/", "server/core/portal/",
        "server/core/query/"}},
      {"server/core/image/",
       {"absl/", "server/base/", "server/core/grid/", "server/core/shape/", "server/core/map/",
        "server/core/graph/", "server/core/mesh/", "server/core/kind/", "server/core/edit/",
        "server/core/format/"}},
      {"server/core/import/",
       {"absl/", "nlohmann/", "webp/", "server/base/", "server/core/grid/", "server/core/shape/",
        "server/core/map/", "server/core/graph/", "server/core/mesh/", "server/core/kind/",
        "server/core/edit/", "server/core/format/", "server/core/image/"}},
      {"server/level/", {"absl/", "server/base/", "server/core/"}},
      {"server/storage/", {"absl/", "isa-l/", "server/base/", "server/core/"}},
      {"server/etcd/", {"absl/", "arpa/", "grpcpp/", "grpc/", "openssl/", "server/base/"}},
      {"server/cluster/", {"absl/", "server/base/", "server/core/", "server/etcd/", "server/storage/"}},
      {"server/data_tool/",
       {"absl/", "google/", "nlohmann/", "waystar/", "server/base/", "server/core/", "server/storage/",
        "server/rpc/wire/"}},
      {"server/runtime/", {"absl/", "spdlog/", "server/base/"}},
      {"server/net/", {"absl/", "arpa/", "linux/", "netinet/", "server/base/", "server/runtime/"}},
      {"server/maintenance/", {"absl/", "server/base/", "server/core/", "server/runtime/"}},
      {"server/http/", {"absl/", "boost/", "google/", "grpcpp/", "grpc/", "server/base/", "server/net/"}},
      {"server/rpc/",
       {"absl/", "arpa/", "google/", "grpcpp/", "grpc/", "netinet/", "nlohmann/", "openssl/", "prometheus/",
        "waystar/", "server/"}},
      {"server/rpc/access/",
       {"absl/", "arpa/", "google/", "grpcpp/", "grpc/", "netinet/", "openssl/", "waystar/", "server/base/",
        "server/runtime/"}},
      {"server/rpc/admission/",
       {"absl/", "google/", "grpcpp/", "grpc/", "waystar/", "server/base/", "server/core/", "server/runtime/",
        "server/rpc/access/"}},
      {"server/rpc/call/",
       {"absl/", "google/", "grpcpp/", "grpc/", "waystar/", "server/base/", "server/core/", "server/runtime/",
        "server/rpc/access/", "server/rpc/admission/"}},
      {"server/rpc/wire/",
       {"absl/", "google/", "grpcpp/", "grpc/", "waystar/", "server/base/", "server/core/", "server/runtime/",
        "server/rpc/call/"}},
      {"server/rpc/telemetry/",
       {"absl/", "google/", "grpcpp/", "grpc/", "waystar/", "nlohmann/", "prometheus/", "server/base/",
        "server/core/", "server/runtime/", "server/http/", "server/maintenance/", "server/net/",
        "server/storage/", "server/cluster/", "server/rpc/access/", "server/rpc/admission/",
        "server/rpc/call/", "server/rpc/wire/"}},
      {"server/rpc/query/",
       {"absl/", "google/", "grpcpp/", "grpc/", "waystar/", "server/base/", "server/core/",
        "server/rpc/access/", "server/rpc/admission/", "server/rpc/call/", "server/rpc/wire/",
        "server/rpc/telemetry/"}},
      {"server/rpc/maps/",
       {"absl/", "google/", "grpcpp/", "grpc/", "waystar/", "server/base/", "server/core/", "server/level/",
        "server/picture/", "server/runtime/", "server/rpc/access/", "server/rpc/admission/",
        "server/rpc/call/", "server/rpc/wire/", "server/rpc/telemetry/", "server/rpc/query/"}},
      {"server/rpc/watch/",
       {"absl/", "google/", "grpcpp/", "grpc/", "waystar/", "server/base/", "server/core/", "server/runtime/",
        "server/rpc/access/", "server/rpc/admission/", "server/rpc/call/", "server/rpc/wire/",
        "server/rpc/telemetry/", "server/rpc/query/"}},
      {"server/rpc/http/",
       {"absl/", "arpa/", "google/", "grpcpp/", "grpc/", "server/base/", "server/runtime/", "server/http/",
        "server/rpc/access/", "server/rpc/admission/", "server/rpc/call/"}},
      // Pictures are drawn alike on both sides.
      {"client/",
       {"absl/", "arpa/", "google/", "grpcpp/", "grpc/", "openssl/", "waystar/", "CLI/", "webp/",
        "server/picture/"}},
  };
  return *kAllowed;
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
  return !absl::StrContains(include, '/') || absl::StartsWith(include, "sys/") ||
         absl::StartsWith(include, folder) ||
         std::any_of(allowed.begin(), allowed.end(),
                     [&](const std::string& prefix) { return absl::StartsWith(include, prefix); });
}

TEST(IncludeDirectionsTest, PointOneWay) {
  std::vector<std::string> faults;
  int files = 0;
  for (const auto& [folder, allowed] : AllowedIncludes()) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(testing::SourceFolder() / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") {
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
    const bool covered = std::any_of(AllowedIncludes().begin(), AllowedIncludes().end(),
                                     [&](const auto& row) { return absl::StartsWith(path, row.first); });
    if (is_source && !covered && path != "server/main.cc") {
      strays.push_back(path);
    }
  }
  EXPECT_THAT(strays, IsEmpty());
}

}  // namespace
}  // namespace waystar
