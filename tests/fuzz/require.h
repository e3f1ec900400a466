// What a fuzz target expects of the code under test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar::fuzz {

// Ends the process, which whatever runs the target takes for a find, unless `holds`.
inline void Require(bool holds, absl::string_view what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
    std::abort();
  }
}

inline absl::string_view BytesOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Requires that a file is refused with a reason and a message.
inline void RequireReason(const absl::Status& status) {
  Require(!ErrorReasonOf(status).empty() && !status.message().empty(), status.ToString());
}

// Requires that a mesh is refused, and no field is blamed for it, or that its polygons agree with each other.
template <typename Mesh>
void RequireMesh(const absl::StatusOr<Mesh>& read) {
  if (!read.ok()) {
    RequireReason(read.status());
    Require(ErrorFieldOf(read.status()).empty(), read.status().ToString());
    return;
  }
  const Mesh& mesh = *read;
  for (std::uint32_t polygon = 0; polygon < mesh.polygon_count(); ++polygon) {
    for (const std::uint32_t neighbour : mesh.NeighboursOf(polygon)) {
      if (neighbour < mesh.polygon_count()) {
        const auto back = mesh.NeighboursOf(neighbour);
        Require(std::count(back.begin(), back.end(), polygon) > 0, "neighbours adjoin from both sides");
        Require(mesh.PartOf(neighbour) == mesh.PartOf(polygon), "neighbours are connected");
      }
    }
  }
}

}  // namespace waystar::fuzz
