// Known members of a format's objects, so that importers report unknown ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/json_value.h"

namespace waystar::core {

// Members of one kind of object, and which of them are read.
//
// Thread safety: immutable.
class MemberTable {
 public:
  // Space-separated names: members that are read, and members that never affect walkability.
  struct Names {
    absl::string_view read;
    absl::string_view no_bearing;
  };
  // Tables of the members that are objects; for members that are lists, tables of their elements.
  struct Inside {
    std::vector<std::pair<absl::string_view, const MemberTable*>> objects;
    std::vector<std::pair<absl::string_view, const MemberTable*>> lists;
  };

  // `object` is a display name such as "layer". All arguments must outlive the table.
  MemberTable(absl::string_view object, const Names& names, const Inside& inside = {});

  // Sets the table of a list's elements, for recursive tables.
  // REQUIRES: Has(member).
  void SetList(absl::string_view member, const MemberTable* table) { entries_.at(member).in_list = table; }

  absl::string_view object() const { return object_; }
  bool Has(absl::string_view member) const { return entries_.contains(member); }
  std::vector<absl::string_view> members() const;

  // Notes the unknown members of a value and of the objects in it; ignores values that are not objects.
  // Returns the error of `stop`, which is polled per object.
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
