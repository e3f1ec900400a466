// The end of a run whose data cannot be read.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace waystar::testing {

[[noreturn]] inline void Die(const std::filesystem::path& path, const std::string& why) {
  std::cerr << path << ": " << why << "\n";
  std::exit(1);
}

}  // namespace waystar::testing
