// Dependencies point one way: a folder includes only itself, without the folders in it, what its row below
// names, and libraries that the row allows. Link visibility cannot check this, because the distribution's
// headers all sit in one folder.

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "tests/layout/sources.h"

namespace waystar {
namespace {

using ::testing::IsEmpty;

// From a folder to the prefixes that its quoted and angled includes may have, beside itself and the standard
// library's (which have no '/'). Those of libraries begin with '<' here, the others lie below server/.
const std::map<std::string, std::vector<std::string>>& AllowedIncludes() {
  static const auto* const kAllowed = [] {
    constexpr std::pair<const char*, const char*> kRows[] = {
        {"server/base/", "<absl/"},
        {"server/geometry/", ""},
        {"server/core/grid/cells/", "<absl/ base/ geometry/"},
        {"server/core/grid/shapes/", "<absl/ base/ geometry/ core/grid/cells/"},
        {"server/core/grid/components/", "<absl/ base/ geometry/ core/grid/cells/"},
        {"server/core/grid/jumps/", "<absl/ base/ geometry/ core/grid/cells/"},
        {"server/core/grid/walk/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/components/ core/grid/jumps/"},
        {"server/core/elements/", "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/"},
        {"server/core/grid/map/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/grid/jumps/ core/grid/walk/ "
         "core/elements/"},
        {"server/core/graph/map/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/elements/"},
        {"server/core/mesh/map/", "<absl/ base/ geometry/ core/elements/"},
        {"server/core/map/", "<absl/ base/ core/elements/ core/grid/map/ core/graph/map/ core/mesh/map/"},
        {"server/core/edit/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/elements/ core/grid/map/ "
         "core/graph/map/ core/mesh/map/ core/map/ core/mesh/search/"},
        {"server/core/store/",
         "<absl/ base/ core/grid/jumps/ core/grid/walk/ core/elements/ core/grid/map/ core/graph/map/ "
         "core/map/ core/edit/"},
        {"server/core/search/", "<absl/ base/ geometry/ core/grid/cells/ core/grid/walk/ core/grid/map/"},
        {"server/core/portal/", "<absl/ base/"},
        {"server/core/graph/search/",
         "<absl/ base/ geometry/ core/grid/cells/ core/elements/ core/graph/map/ core/search/"},
        {"server/core/mesh/search/", "<absl/ base/ geometry/ core/elements/ core/mesh/map/ core/search/"},
        {"server/core/mesh/portal/",
         "<absl/ base/ geometry/ core/elements/ core/mesh/map/ core/search/ core/portal/ core/mesh/search/"},
        {"server/core/grid/search/",
         "<absl/ geometry/ core/grid/cells/ core/grid/components/ core/grid/walk/ core/elements/ "
         "core/grid/map/ core/search/ core/portal/"},
        {"server/core/grid/path/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/grid/walk/ core/grid/map/ "
         "core/search/ core/grid/search/"},
        {"server/core/grid/hierarchy/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/jumps/ core/grid/walk/ core/grid/map/ "
         "core/search/ core/grid/search/"},
        {"server/core/grid/engines/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/grid/components/ "
         "core/grid/jumps/ core/grid/walk/ core/elements/ core/grid/map/ core/search/ core/portal/ "
         "core/grid/search/ core/grid/path/ core/grid/hierarchy/"},
        {"server/core/grid/portal/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/components/ core/grid/walk/ core/elements/ "
         "core/grid/map/ core/search/ core/portal/ core/grid/search/ core/grid/path/ "
         "core/grid/engines/"},
        {"server/core/grid/field/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/components/ core/grid/jumps/ "
         "core/grid/walk/ core/elements/ core/grid/map/ core/search/ core/portal/ core/grid/search/ "
         "core/grid/engines/ core/grid/portal/"},
        {"server/core/query/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/grid/components/ "
         "core/grid/walk/ core/elements/ core/grid/map/ core/graph/map/ core/mesh/map/ core/map/ "
         "core/edit/ core/store/ core/search/ core/portal/ core/graph/search/ core/mesh/search/ "
         "core/mesh/portal/ core/grid/search/ core/grid/path/ core/grid/engines/ core/grid/portal/ "
         "core/grid/field/"},
        {"server/core/watch/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/grid/components/ "
         "core/grid/walk/ core/elements/ core/grid/map/ core/graph/map/ core/mesh/map/ core/map/ "
         "core/edit/ core/store/ core/search/ core/portal/ core/graph/search/ core/grid/search/ "
         "core/grid/path/ core/grid/portal/ core/query/"},
        {"server/core/codec/",
         "<absl/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/elements/ core/grid/map/ "
         "core/graph/map/ core/mesh/map/ core/map/ core/edit/ core/mesh/search/"},
        {"server/formats/text/", "<absl/ base/ core/elements/ core/grid/cells/ core/grid/map/"},
        {"server/formats/parts/", "<absl/ <nlohmann/ base/ geometry/ formats/text/"},
        {"server/formats/grid/",
         "<absl/ <arpa/ <webp/ base/ geometry/ core/grid/cells/ core/grid/shapes/ core/elements/ "
         "core/grid/map/ core/edit/ formats/text/ formats/parts/"},
        {"server/formats/graph/", "<absl/ base/ core/elements/ core/graph/map/ formats/text/ formats/parts/"},
        {"server/formats/mesh/",
         "<absl/ base/ core/elements/ core/mesh/map/ core/edit/ core/mesh/search/ formats/text/ "
         "formats/parts/"},
        {"server/formats/detect/",
         "<absl/ base/ core/grid/cells/ core/map/ core/codec/ formats/text/ formats/parts/ "
         "formats/grid/ formats/graph/ formats/mesh/"},
        {"server/formats/build/",
         "<absl/ base/ geometry/ core/map/ core/mesh/map/ core/mesh/search/ formats/text/ formats/parts/ "
         "formats/mesh/ formats/detect/"},
        {"server/render/canvas/", "<absl/"},
        {"server/render/scene/",
         "<absl/ base/ geometry/ core/grid/cells/ core/elements/ core/grid/map/ core/graph/map/ "
         "core/mesh/map/ core/search/ core/portal/ core/graph/search/ core/mesh/search/ core/query/ "
         "render/canvas/"},
        {"server/render/file/", "<absl/ base/ render/canvas/"},
        {"server/runtime/", "<absl/ <spdlog/ base/"},
        {"server/storage/folder/", "<absl/ <isa-l/ base/ core/"},
        {"server/storage/etcd/", "<absl/ <arpa/ <grpcpp/ <openssl/ base/"},
        {"server/storage/fleet/",
         "<absl/ base/ core/map/ core/store/ core/codec/ storage/folder/ storage/etcd/"},
        {"server/maintenance/",
         "<absl/ base/ core/map/ core/store/ core/grid/cells/ core/grid/hierarchy/ runtime/"},
        {"server/service/transport/net/", "<absl/ <arpa/ <linux/ <netinet/ base/ runtime/"},
        {"server/service/transport/http/", "<absl/ <boost/ <google/ <grpcpp/ base/ service/transport/net/"},
        {"server/service/auth/",
         "<absl/ <arpa/ <google/ <grpc/ <grpcpp/ <netinet/ <openssl/ <waystar/ base/ runtime/"},
        {"server/service/admission/",
         "<absl/ <google/ <grpc/ <grpcpp/ <waystar/ base/ core/ runtime/ service/auth/"},
        {"server/service/call/",
         "<absl/ <google/ <grpc/ <grpcpp/ base/ core/ runtime/ service/auth/ service/admission/"},
        {"server/service/convert/",
         "<absl/ <google/ <waystar/ base/ geometry/ core/ formats/text/ formats/detect/ service/call/"},
        {"server/service/metrics/",
         "<absl/ <google/ <grpc/ <grpcpp/ <prometheus/ <waystar/ base/ core/store/ runtime/ "
         "storage/folder/ storage/fleet/ maintenance/ service/transport/net/ service/transport/http/ "
         "service/auth/ service/admission/ service/call/ service/convert/"},
        {"server/service/handlers/query/",
         "<absl/ <google/ <grpcpp/ <waystar/ base/ geometry/ core/ service/auth/ service/admission/ "
         "service/call/ service/convert/ service/metrics/"},
        {"server/service/handlers/maps/",
         "<absl/ <google/ <grpcpp/ <waystar/ base/ geometry/ core/ formats/text/ formats/detect/ "
         "formats/build/ render/canvas/ render/scene/ render/file/ runtime/ service/auth/ service/admission/ "
         "service/call/ service/convert/ service/metrics/ service/handlers/query/"},
        {"server/service/handlers/watch/",
         "<absl/ <google/ <grpcpp/ <waystar/ base/ core/map/ core/store/ core/query/ core/watch/ "
         "runtime/ service/auth/ service/admission/ service/call/ service/convert/ service/metrics/ "
         "service/handlers/query/"},
        {"server/service/gateway/",
         "<absl/ <arpa/ <google/ <grpcpp/ base/ runtime/ service/transport/http/ service/auth/ "
         "service/admission/ service/call/"},
        {"server/service/",
         "<absl/ <google/ <grpc/ <grpcpp/ <waystar/ base/ core/store/ formats/detect/ formats/build/ "
         "runtime/ "
         "storage/folder/ storage/etcd/ storage/fleet/ maintenance/ service/transport/net/ "
         "service/auth/ service/admission/ service/call/ service/convert/ service/metrics/ "
         "service/handlers/query/ service/handlers/maps/ service/handlers/watch/ service/gateway/"},
        {"server/data_tool/", "<absl/ <google/ <nlohmann/ base/ storage/folder/ service/convert/"},
        // Pictures are drawn, and JSON is written, alike on both sides.
        {"client/",
         "<CLI/ <absl/ <arpa/ <google/ <grpc/ <grpcpp/ <openssl/ <waystar/ <webp/ render/canvas/ "
         "render/file/"},
    };
    auto* const allowed = new std::map<std::string, std::vector<std::string>>;
    for (const auto& [folder, names] : kRows) {
      for (const absl::string_view name : absl::StrSplit(names, ' ', absl::SkipEmpty())) {
        (*allowed)[folder].push_back(name[0] == '<' ? std::string(name.substr(1))
                                                    : absl::StrCat("server/", name));
      }
      allowed->try_emplace(folder);
    }
    return allowed;
  }();
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

std::vector<std::string> IncludesOf(const std::string& path) {
  std::vector<std::string> includes;
  for (const absl::string_view line : absl::StrSplit(ReadFile(path), '\n')) {
    if (absl::StartsWith(line, "#include ")) {
      includes.emplace_back(line.substr(10, line.size() - 11));
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
  for (const auto& [folder, allowed] : AllowedIncludes()) {
    for (const std::string& path : FilesIn({folder}, {".h", ".cc"})) {
      if (RowOf(path) != folder) {
        continue;
      }
      ++files;
      for (const std::string& include : IncludesOf(path)) {
        if (!IsAllowed(include, folder, allowed)) {
          faults.push_back(absl::StrCat(path, " includes ", include));
        }
      }
    }
  }
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_GT(files, 30);
}

TEST(IncludeDirectionsTest, CoversEveryFolderOfTheServer) {
  std::vector<std::string> strays;
  for (const std::string& path : FilesIn({"server"}, {".h", ".cc"})) {
    // A row is of one folder, and not of those below it.
    const bool covered = AllowedIncludes().count(path.substr(0, path.rfind('/') + 1)) != 0;
    if (!covered && path != "server/main.cc") {
      strays.push_back(path);
    }
  }
  EXPECT_THAT(strays, IsEmpty());
}

}  // namespace
}  // namespace waystar
