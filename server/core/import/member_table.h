// The members of a format's objects, so that no importer passes over one that it does not know.
#pragma once

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
  // Names as one text, with blanks between them: of members that are read, and of those that have no bearing
  // on where one can walk, whatever they say.
  struct Names {
    absl::string_view read;
    absl::string_view no_bearing;
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
  bool Has(absl::string_view member) const { return entries_.contains(member); }
  std::vector<absl::string_view> members() const;

  // Notes the members of a value, and of the objects in it, that the table does not have. A value that
  // is no object is passed over. Returns the error of `stop`, which is asked for each object.
  absl::Status NoteMembers(const JsonValue& value, ImportNotes& notes, const StopCheck* stop) const;

 private:
  struct Entry {
    const MemberTable* as_object = nullptr;
    const MemberTable* in_list = nullptr;
  };

  void Add(absl::string_view names);

  absl::string_view object_;
  absl::flat_hash_map<absl::string_view, Entry> entries_;
};

}  // namespace waystar::core
