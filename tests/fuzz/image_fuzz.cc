#include "tests/fuzz/import_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  waystar::fuzz::FuzzImport(waystar::core::MapFormat::kImage, data, size);
  waystar::fuzz::FuzzImport(waystar::core::MapFormat::kImage, data, size,
                            {.terrains = "#3060a0 water 3 ~\nvalue 1 blocked\ngrey 1 9\nelse grass 2"});
  return 0;
}
