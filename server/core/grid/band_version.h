// One state of a plane, in the tree of all that were made of each other.
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

// Where each band begins is what reading goes by. Who may free a band follows from the tree: a band is read
// by the version that cloned it and by those below, less those that cloned it again and all below them.
//
// Thread safety: `starts` and `own` are the one writer's until the version is closed; then `starts` stays as
// it is, for whoever holds the version, and `own` is for BandVersions, under its mutex, like all else.
template <typename T>
struct BandVersion {
  BandVersion(BandVersions<T>& family_of_it, std::size_t bands) : family(family_of_it), own(bands) {}
  BandVersion(const BandVersion&) = delete;
  BandVersion& operator=(const BandVersion&) = delete;

  // Puts `other` into the place of this in the tree, below what this is below.
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
  // Whether a plane, or its writer, has it.
  bool is_held = true;
  // Whether it is still written to.
  bool is_open = true;
};

}  // namespace waystar::core
