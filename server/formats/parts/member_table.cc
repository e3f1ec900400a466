#include "server/formats/parts/member_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/base/file_errors.h"
#include "server/base/status_macros.h"

namespace waystar::core {

MemberTable::MemberTable(absl::string_view object, const Names& names, const Inside& inside)
    : object_(object) {
  Add(names.read);
  Add(names.no_bearing);
  for (const auto& [member, table] : inside.objects) {
    entries_.at(member).as_object = table;
  }
  for (const auto& [member, table] : inside.lists) {
    SetList(member, table);
  }
}

void MemberTable::Add(absl::string_view names) {
  for (const absl::string_view name : absl::StrSplit(names, ' ', absl::SkipEmpty())) {
    entries_.emplace(name, Entry());
  }
}

std::vector<absl::string_view> MemberTable::members() const {
  std::vector<absl::string_view> names;
  names.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) {
    names.push_back(name);
  }
  return names;
}

absl::Status MemberTable::NoteMembers(const JsonValue& value, ImportNotes& notes,
                                      const StopCheck* stop) const {
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  if (value.object() == nullptr) {
    return absl::OkStatus();
  }
  for (const auto& [name, member] : *value.object()) {
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) {
      notes.Add(absl::StrCat("the member ", Quoted(name), " of \"", object_, "\" is not known"),
                absl::StrCat("line ", member.line()));
      continue;
    }
    const auto& [as_object, in_list] = entry->second;
    if (as_object != nullptr) {
      WAYSTAR_RETURN_IF_ERROR(as_object->NoteMembers(member, notes, stop));
    }
    if (in_list != nullptr && member.array() != nullptr) {
      for (const JsonValue& element : *member.array()) {
        WAYSTAR_RETURN_IF_ERROR(in_list->NoteMembers(element, notes, stop));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
