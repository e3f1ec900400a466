// The folders of this checkout. One file is compiled with their names, so that all others compile to the same
// bytes wherever the checkout lies.
#pragma once

#include <filesystem>

namespace waystar {

// The root of the sources, absolute.
std::filesystem::path SourceFolder();

// The folder of the build, absolute; its programs are below "bin".
std::filesystem::path BuildFolder();

}  // namespace waystar
