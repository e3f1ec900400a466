#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "waystar/v1/types.pb.h"

namespace waystar::client {

// Remembers the versions that changes have led maps to: of the maps that were changed last, so many at most.
//
// Thread safety: any.
class OwnWrites {
 public:
  explicit OwnWrites(std::size_t most_maps) : most_maps_(most_maps) {}

  // Keeps the later of two versions of one epoch. Ignores a version without an epoch.
  void Note(const std::string& map, const v1::Version& version);
  // Forgets the map; given an epoch, unless a change has led it to another one since.
  void Forget(const std::string& map, std::uint64_t epoch = 0);

  std::optional<v1::Version> Of(const std::string& map) const;

 private:
  using Entry = std::pair<std::string, v1::Version>;

  const std::size_t most_maps_;
  mutable std::mutex mutex_;
  // The map that was changed last is the first.
  std::list<Entry> entries_;
  // The names are those of the entries.
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_map_;
};

}  // namespace waystar::client
