// The members of a format's objects, so that no importer passes over one that it does not know.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/json_value.h"

namespace waystar::core {

// The members that a kind of object has in a format, and what becomes of them. Thread safety: immutable.
class MemberTable {
 public:
  enum class Use : std::uint8_t {
    kRead,
    // It has no bearing on where one can walk, whatever it says.
    kNoBearing,
    // It may have, but is not read: each file that has it gets a note.
    kNoted,
  };

  // Names as one text, with blanks between them.
  struct Names {
    absl::string_view read;
    absl::string_view no_bearing;
    absl::string_view noted;
  };
  // The tables of members that are objects; of those that are lists, of the objects in them.
  struct Inside {
    std::vector<std::pair<absl::string_view, const MemberTable*>> objects;
    std::vector<std::pair<absl::string_view, const MemberTable*>> lists;
  };

  // `object` is the kind's name for people: "layer". What is passed must outlive the table.
  MemberTable(absl::string_view object, const Names& names, const Inside& inside = {});

  // Says what the objects in a list are, for tables that hold themselves. REQUIRES: there is such a member.
  void SetList(absl::string_view member, const MemberTable* table) { entries_.at(member).in_list = table; }

  absl::string_view object() const { return object_; }
  // Returns null for a member that the table does not have.
  const Use* Find(absl::string_view member) const;
  std::vector<absl::string_view> members() const;

  // Notes the members of a value, and of the objects in it, that the table does not have or says to note. A
  // value that is no object is passed over. Returns the error of `stop`, which is asked for each object.
  absl::Status NoteMembers(const JsonValue& value, ImportNotes& notes, const StopCheck* stop) const;

 private:
  struct Entry {
    Use use = Use::kRead;
    const MemberTable* as_object = nullptr;
    const MemberTable* in_list = nullptr;
  };

  void Add(absl::string_view names, Use use);

  absl::string_view object_;
  absl::flat_hash_map<absl::string_view, Entry> entries_;
};

}  // namespace waystar::core
