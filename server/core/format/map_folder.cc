#include "server/core/format/map_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/core/format/map_format.h"

namespace waystar::core {

absl::StatusOr<std::vector<MapFile>> ListMapFiles(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat("there is no folder ", folder.string()));
  }
  std::vector<MapFile> files;
  auto entry = std::filesystem::directory_iterator(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (entry->is_regular_file(error) && (path.extension() == ".map" || path.extension() == ".txt")) {
      files.push_back({.path = path, .id = absl::AsciiStrToLower(path.stem().string())});
    }
  }
  if (error) {
    return absl::UnknownError(absl::StrCat("cannot read ", folder.string(), ": ", error.message()));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

absl::StatusOr<GridMap> LoadMapFile(const MapFile& file, int max_side) {
  std::ifstream stream(file.path, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  if (!stream || !bytes) {
    return absl::UnknownError(absl::StrCat("cannot read ", file.path.string()));
  }
  const std::string text = bytes.str();
  return ParseMap(DetectFormat(text), text, {.max_side = max_side});
}

}  // namespace waystar::core
