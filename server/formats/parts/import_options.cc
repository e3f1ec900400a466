#include "server/formats/parts/import_options.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/file_errors.h"

namespace waystar::core {
namespace {

constexpr std::array<absl::string_view, 27> kWallWords = {
    "barrier",   "barriers",  "block",      "blocked",    "blocker", "blockers",   "blocking",
    "blocks",    "cliff",     "cliffs",     "collidable", "collide", "collider",   "colliders",
    "collides",  "collision", "collisions", "fence",      "fences",  "impassable", "obstacle",
    "obstacles", "solid",     "solids",     "unwalkable", "wall",    "walls"};

bool IsWallWord(absl::string_view word) {
  return std::find(kWallWords.begin(), kWallWords.end(), absl::AsciiStrToLower(word)) != kWallWords.end();
}

}  // namespace

void ImportNotes::Add(absl::string_view text, absl::string_view place, std::int64_t count) {
  if (const auto known = by_text_.find(text); known != by_text_.end()) {
    notes_[known->second].count += count;
    return;
  }
  if (notes_.size() < kMaxNotes) {
    by_text_.emplace(text, notes_.size());
    notes_.push_back(
        {.text = std::string(text),
         .first_place = file_.empty() ? std::string(place) : absl::StrCat(Quoted(file_), ", ", place),
         .count = count});
    return;
  }
  if (notes_.size() == kMaxNotes) {
    notes_.push_back({.text = "notes of other kinds", .first_place = "", .count = 0});
  }
  notes_.back().count += count;
}

std::string LineOf(const ImportNote& note) {
  std::string line = note.text;
  if (!note.first_place.empty()) {
    absl::StrAppend(&line, ": ", note.first_place);
    if (note.count > 1) {
      absl::StrAppend(&line, " and ", note.count - 1, " more");
    }
  } else if (note.count > 1) {
    absl::StrAppend(&line, ", ", note.count, " times");
  }
  return line;
}

std::string UniqueIds::TakeNumbered(const std::string& base) {
  std::string id;
  int& tried = tried_[base];
  do {
    id = absl::StrCat(base, "-", ++tried + 1);
  } while (!Take(id));
  return id;
}

bool SoundsLikeWall(absl::string_view name) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const bool is_letter = i < name.size() && absl::ascii_isalpha(static_cast<unsigned char>(name[i]));
    const bool begins_word = is_letter && i > 0 && absl::ascii_isupper(static_cast<unsigned char>(name[i])) &&
                             absl::ascii_islower(static_cast<unsigned char>(name[i - 1]));
    if (is_letter && !begins_word) {
      continue;
    }
    if (IsWallWord(name.substr(begin, i - begin))) {
      return true;
    }
    begin = is_letter ? i : i + 1;
  }
  return false;
}

}  // namespace waystar::core
