#include "tests/testing/folders.h"

namespace waystar {

std::filesystem::path SourceFolder() { return WAYSTAR_SOURCE_DIR; }

std::filesystem::path BuildFolder() { return WAYSTAR_BUILD_DIR; }

}  // namespace waystar
