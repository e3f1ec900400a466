#include "client/cli/message_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/shape_argument.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::vector<const FieldDescriptor*> FieldsOf(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

std::string NameOf(const FieldDescriptor& field) { return absl::StrReplaceAll(field.name(), {{"_", " "}}); }

std::string ValueText(const Message& message, const FieldDescriptor& field);

std::string EdgeText(const v1::EdgeName& edge) {
  return absl::StrCat(edge.from(), edge.one_way() ? ">" : ",", edge.to());
}

std::string DurationText(const google::protobuf::Duration& duration) {
  return absl::FormatDuration(absl::Trunc(DurationOf(duration), absl::Milliseconds(1)));
}

std::string TimeText(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixSeconds(time.seconds()),
                          absl::UTCTimeZone());
}

std::string HeightsText(const v1::HeightRange& heights) {
  return absl::StrCat(heights.has_low() ? absl::StrCat(heights.low()) : "", ":",
                      heights.has_high() ? absl::StrCat(heights.high()) : "");
}

using Format = std::string (*)(const Message&);

template <typename T, std::string (*format)(const T&)>
std::string FormatAs(const Message& message) {
  return format(static_cast<const T&>(message));
}

// Writes what an edit does as its field is named: "block 3,4", "put portal stairs 1,1 4,4 cost 5".
std::string EditText(const v1::Edit& edit) {
  std::string text;
  for (const FieldDescriptor* const field : FieldsOf(edit)) {
    absl::StrAppend(&text, NameOf(*field), " ", ValueText(edit, *field));
  }
  const bool opens = edit.has_switch_portal() && !edit.switch_portal().closed();
  const bool disables = edit.has_set_enabled() && !edit.set_enabled().enabled();
  return absl::StrCat(text, opens ? " open" : "", disables ? " disabled" : "");
}

// Returns how messages of a type are written that have a form of their own; null for others.
Format FormatOf(const Descriptor* type) {
  static const auto* const kFormats = new std::map<const Descriptor*, Format>{
      {v1::Cell::descriptor(), &FormatAs<v1::Cell, &FormatCell>},
      {v1::Edit::descriptor(), &FormatAs<v1::Edit, &EditText>},
      {v1::EdgeName::descriptor(), &FormatAs<v1::EdgeName, &EdgeText>},
      {v1::HeightRange::descriptor(), &FormatAs<v1::HeightRange, &HeightsText>},
      {v1::Location::descriptor(), &FormatAs<v1::Location, &FormatLocation>},
      {v1::Position::descriptor(), &FormatAs<v1::Position, &FormatPosition>},
      {v1::Shape::descriptor(), &FormatAs<v1::Shape, &FormatShape>},
      {v1::WaypointNode::descriptor(), &FormatAs<v1::WaypointNode, &NodeText>},
      {google::protobuf::Duration::descriptor(), &FormatAs<google::protobuf::Duration, &DurationText>},
      {google::protobuf::Timestamp::descriptor(), &FormatAs<google::protobuf::Timestamp, &TimeText>},
  };
  const auto found = kFormats->find(type);
  return found == kFormats->end() ? nullptr : found->second;
}

bool IsMessage(const FieldDescriptor& field) { return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE; }

// `index` is -1 for a field that is not a list.
std::string ItemText(const Message& message, const FieldDescriptor& field, int index) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (IsMessage(field)) {
    return MessageText(index < 0 ? reflection.GetMessage(message, &field)
                                 : reflection.GetRepeatedMessage(message, &field, index));
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return index < 0 ? reflection.GetString(message, &field)
                     : reflection.GetRepeatedString(message, &field, index);
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    return EnumText(*field.enum_type(), index < 0 ? reflection.GetEnumValue(message, &field)
                                                 : reflection.GetRepeatedEnumValue(message, &field, index));
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    return reflection.GetBool(message, &field) ? "yes" : "no";
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    return absl::StrFormat("%.10g", reflection.GetDouble(message, &field));
  }
  if (field.type() == FieldDescriptor::TYPE_FIXED64) {
    return DigestText(reflection.GetUInt64(message, &field));
  }
  std::string text;
  google::protobuf::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  return text;
}

std::string ValueText(const Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated()) {
    return ItemText(message, field, -1);
  }
  constexpr int kMost = 10;
  const int size = message.GetReflection()->FieldSize(message, &field);
  std::vector<std::string> items;
  for (int i = 0; i < std::min(size, kMost); ++i) {
    items.push_back(ItemText(message, field, i));
  }
  return absl::StrCat(absl::StrJoin(items, ", "),
                      size > kMost ? absl::StrCat(" and ", size - kMost, " more") : "");
}

// Returns true for a field whose value says what it is: the first one, which names the message, and messages
// that are not just numbers.
bool StandsForItself(const FieldDescriptor& field) {
  const Descriptor* const type = field.message_type();
  return field.index() == 0 ||
         (type != nullptr && (FormatOf(type) == nullptr || type == v1::Shape::descriptor() ||
                              type == v1::EdgeName::descriptor()));
}

}  // namespace

std::string EnumText(const google::protobuf::EnumDescriptor& type, int value) {
  const auto* const found = type.FindValueByNumber(value);
  // All values begin as the first does, up to its last word.
  const std::size_t begin = type.value(0)->name().rfind('_') + 1;
  return found == nullptr
             ? "unknown"
             : absl::AsciiStrToLower(absl::StrReplaceAll(found->name().substr(begin), {{"_", " "}}));
}

std::string MessageText(const Message& message) {
  if (const Format format = FormatOf(message.GetDescriptor()); format != nullptr) {
    return format(message);
  }
  std::vector<std::string> parts;
  for (const FieldDescriptor* const field : FieldsOf(message)) {
    const std::string value = ValueText(message, *field);
    if (StandsForItself(*field)) {
      parts.push_back(value);
    } else {
      const bool is_true = field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL && value == "yes";
      parts.push_back(absl::StrCat(NameOf(*field), is_true ? "" : " ", is_true ? "" : value));
    }
  }
  return absl::StrJoin(parts, " ");
}

std::vector<TableRow> FactsOf(const Message& message, const std::string& prefix) {
  std::vector<TableRow> rows;
  for (const FieldDescriptor* const field : FieldsOf(message)) {
    const std::string name = absl::StrCat(prefix, NameOf(*field));
    if (IsMessage(*field) && field->is_repeated()) {
      for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
        rows.push_back({name, ItemText(message, *field, i)});
      }
    } else if (IsMessage(*field) && FormatOf(field->message_type()) == nullptr) {
      absl::c_move(FactsOf(message.GetReflection()->GetMessage(message, field), name + " "),
                   std::back_inserter(rows));
    } else {
      rows.push_back({name, ValueText(message, *field)});
    }
  }
  return rows;
}

std::vector<TableRow> TableOf(const std::vector<const Message*>& messages) {
  std::map<int, const FieldDescriptor*> columns;
  for (const Message* const message : messages) {
    for (const FieldDescriptor* const field : FieldsOf(*message)) {
      columns[field->number()] = field;
    }
  }
  std::vector<TableRow> rows(messages.empty() ? 0 : messages.size() + 1);
  for (const auto& [number, field] : columns) {
    rows.front().push_back(absl::AsciiStrToUpper(NameOf(*field)));
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const bool is_set = field->is_repeated() || messages[i]->GetReflection()->HasField(*messages[i], field);
      // A number that is 0 is not told from one that is not set.
      const bool may_be_unset = field->has_presence() || field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
      const std::string value = is_set || !may_be_unset ? ValueText(*messages[i], *field) : "";
      rows[i + 1].push_back(value.empty() ? "-" : value);
    }
  }
  return rows;
}

}  // namespace waystar::cli
