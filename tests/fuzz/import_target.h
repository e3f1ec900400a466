// What the targets of level editors' formats have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/formats/parts/import_options.h"
#include "server/formats/text/map_format.h"

namespace waystar::fuzz {

// Bytes as a file of that format: refused with a reason, or read as maps that can be written as text and read
// again.
void FuzzImport(core::MapFormat format, const std::uint8_t* data, std::size_t size,
                core::ImportOptions options = {});

}  // namespace waystar::fuzz
