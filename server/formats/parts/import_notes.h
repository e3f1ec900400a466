// Notes on content that an importer skipped, for the owner of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// Skipped content that occurred one or more times.
struct ImportNote {
  // Description, such as "hidden layers are not read".
  std::string text;
  // First place, such as "layer \"decor\" (line 12)"; empty for the whole file.
  std::string first_place;
  std::int64_t count = 1;

  friend bool operator==(const ImportNote&, const ImportNote&) = default;
};

// Notes in order of first occurrence, one per text.
//
// Thread safety: none.
class ImportNotes {
 public:
  // Maximum number of texts kept; one more note counts the rest.
  static constexpr std::size_t kMaxNotes = 50;

  // Adds `count` occurrences; `place` is that of the first.
  void Add(absl::string_view text, absl::string_view place = "", std::int64_t count = 1);

  // Sets the file that later places are in, if it differs from the map's own.
  void set_file(std::string file) { file_ = std::move(file); }

  const std::vector<ImportNote>& notes() const { return notes_; }

 private:
  std::string file_;
  std::vector<ImportNote> notes_;
  absl::flat_hash_map<std::string, std::size_t> by_text_;
};

// Formats a note: "hidden layers are not read: layer \"decor\" (line 12) and 2 more".
std::string LineOf(const ImportNote& note);

// Ids that are taken.
//
// Thread safety: none.
class UniqueIds {
 public:
  // Takes an id; returns false if it is taken.
  bool Take(absl::string_view id) { return ids_.emplace(id).second; }

  // Takes and returns an unused id: `base` with a number from 2 on, such as "node-2".
  std::string TakeNumbered(const std::string& base);

 private:
  absl::flat_hash_set<std::string> ids_;
  // Numbers tried after each id; avoids quadratic time for many ids alike.
  absl::flat_hash_map<std::string, int> tried_;
};

// Returns true if a word of the name suggests an obstacle, such as "wall", "solid" or "collision". Words end
// at non-letters and before capitals: "StoneWall_2".
bool SoundsLikeWall(absl::string_view name);

}  // namespace waystar::core
