// One version of a plane, in the tree of all that were made from each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "server/core/grid/band_set.h"

namespace waystar::core {

template <typename T>
class BandVersions;

// A version has a table of where each band begins, by which the plane is read. The tree tells who may free a
// band: a band is read by the version that cloned it and by those below, except those that cloned it again
// and all below them.
//
// Thread safety: `starts` and `own` belong to the one writer until the version is closed. Then `starts` is
// constant, for whoever holds the version, and BandVersions guards `own`, like all else, by its mutex.
template <typename T>
struct BandVersion {
  BandVersion(BandVersions<T>& family_of_it, std::size_t bands) : family(family_of_it), own(bands) {}
  BandVersion(const BandVersion&) = delete;
  BandVersion& operator=(const BandVersion&) = delete;

  // Puts `other` in the place of this in the tree, below the parent of this.
  void GiveWayTo(BandVersion* other) {
    other->parent = parent;
    if (parent != nullptr) {
      std::replace(parent->children.begin(), parent->children.end(), this, other);
    }
  }

  BandVersions<T>& family;
  std::unique_ptr<T*[]> starts;
  // The bands that were cloned here, and so are not read above.
  BandSet own;
  BandVersion* parent = nullptr;
  std::vector<BandVersion*> children;
  // True while a plane or its writer holds it.
  bool is_held = true;
  // True while it is still written to.
  bool is_open = true;
};

}  // namespace waystar::core
