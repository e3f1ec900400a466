// Notes on what an importer passed over in a file, for the file's owner to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace waystar::core {

// What was passed over, once or more often.
struct ImportNote {
  // What the file has and the map has not: "hidden layers are not read".
  std::string text;
  // Where the file has it first, such as "layer \"decor\" (line 12)"; empty for the file as a whole.
  std::string first_place;
  std::int64_t count = 1;

  friend bool operator==(const ImportNote&, const ImportNote&) = default;
};

// Notes in the order of their first places, one for each text. Thread safety: none.
class ImportNotes {
 public:
  // The number of texts that are kept; one more note counts the rest.
  static constexpr std::size_t kMaxNotes = 50;

  // `count` is how many are noted at once; `place` is that of the first.
  void Add(absl::string_view text, absl::string_view place = "", std::int64_t count = 1);

  // Names the file that places are in from now on, if it is another than the map's own.
  void set_file(std::string file) { file_ = std::move(file); }

  const std::vector<ImportNote>& notes() const { return notes_; }

 private:
  std::string file_;
  std::vector<ImportNote> notes_;
  absl::flat_hash_map<std::string, std::size_t> by_text_;
};

// Returns a note as a line: "hidden layers are not read: layer \"decor\" (line 12) and 2 more".
std::string LineOf(const ImportNote& note);

// Returns true if a name sounds like something that blocks: one of its words is "wall", "solid", "collision"
// or the like. Words end where letters do, and before capitals: "StoneWall_2".
bool SoundsLikeWall(absl::string_view name);

}  // namespace waystar::core
