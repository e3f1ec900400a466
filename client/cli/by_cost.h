// Orders and writes the parts of an answer that have a cost: nodes of a graph, polygons of a mesh.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

namespace waystar::cli {

inline std::string CostText(double cost) { return absl::StrFormat("%.10g", cost); }

// Returns the parts by rising cost; those of equal cost keep their order.
template <typename Part>
std::vector<const Part*> ByCost(const google::protobuf::RepeatedPtrField<Part>& parts) {
  std::vector<const Part*> sorted(parts.pointer_begin(), parts.pointer_end());
  std::ranges::stable_sort(sorted, {}, [](const Part* part) { return part->cost(); });
  return sorted;
}

}  // namespace waystar::cli
