// Node of the version tree of a plane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "server/core/grid/cells/band_set.h"

namespace waystar::core {

template <typename T>
class BandVersions;

// One version of a plane: a table of pointers to its bands, and a node of the version tree. The tree
// determines when a band may be freed. A band is used by the version that cloned it and by its descendants,
// except those that cloned it again and their descendants.
//
// Thread safety: `starts` and `own` belong to the single writer until the version is closed. After that
// `starts` is constant for all holders of the version, and `own` and the other fields are guarded by the
// mutex of BandVersions.
template <typename T>
struct BandVersion {
  BandVersion(BandVersions<T>& family_of_it, std::size_t bands) : family(family_of_it), own(bands) {}
  BandVersion(const BandVersion&) = delete;
  BandVersion& operator=(const BandVersion&) = delete;

  // Replaces this version by `other` in the tree.
  void GiveWayTo(BandVersion* other) {
    other->parent = parent;
    if (parent != nullptr) {
      std::replace(parent->children.begin(), parent->children.end(), this, other);
    }
  }

  BandVersions<T>& family;
  std::unique_ptr<T*[]> starts;
  // Bands cloned by this version. Ancestors do not use them.
  BandSet own;
  BandVersion* parent = nullptr;
  std::vector<BandVersion*> children;
  // True while a plane or its writer holds the version.
  bool is_held = true;
  // True until the version is closed.
  bool is_open = true;
};

}  // namespace waystar::core
