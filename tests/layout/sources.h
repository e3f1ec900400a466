// The repository's files, as the tests of its layout read them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/testing/folders.h"

namespace waystar {

// Returns the content of a file, whose path begins at the root of the repository.
inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(SourceFolder() / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the paths from the root of all files below folders that have one of these extensions.
inline std::vector<std::string> FilesIn(const std::vector<std::string>& folders,
                                        const std::set<std::string>& extensions) {
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SourceFolder() / folder)) {
      if (entry.is_regular_file() && extensions.contains(entry.path().extension())) {
        paths.push_back(std::filesystem::relative(entry.path(), SourceFolder()).string());
      }
    }
  }
  return paths;
}

}  // namespace waystar
