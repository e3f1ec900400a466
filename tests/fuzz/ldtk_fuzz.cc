#include "tests/fuzz/import_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  waystar::fuzz::FuzzImport(waystar::core::MapFormat::kLdtk, data, size);
  return 0;
}
