// What the targets of level editors' formats have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/core/format/map_format.h"
#include "server/core/import/import_options.h"

namespace waystar::fuzz {

// Bytes as a file of that format: refused with a reason, or read as maps that can be written as text and read
// again.
void FuzzImport(core::MapFormat format, const std::uint8_t* data, std::size_t size,
                core::ImportOptions options = {});

}  // namespace waystar::fuzz
