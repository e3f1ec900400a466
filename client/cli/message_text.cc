#include "client/cli/message_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
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

std::string InWords(absl::string_view name) { return absl::StrReplaceAll(name, {{"_", " "}}); }

// Returns the unit that the field's name ends with, such as "_bytes", or "".
absl::string_view UnitOf(const FieldDescriptor& field) {
  for (const absl::string_view unit : {"_bytes", "_cells", "_seconds"}) {
    if (absl::EndsWith(field.name(), unit)) {
      return unit;
    }
  }
  return "";
}

std::string NameOf(const FieldDescriptor& field) {
  return InWords(absl::StripSuffix(field.name(), UnitOf(field)));
}

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

// In the digits that --expect-epoch takes.
std::string VersionText(const v1::Version& version) {
  return absl::StrCat("revision ", version.revision(), " of epoch ", version.epoch());
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
      {v1::Version::descriptor(), &FormatAs<v1::Version, &VersionText>},
      {v1::WaypointNode::descriptor(), &FormatAs<v1::WaypointNode, &NodeText>},
      {google::protobuf::Duration::descriptor(), &FormatAs<google::protobuf::Duration, &DurationText>},
      {google::protobuf::Timestamp::descriptor(), &FormatAs<google::protobuf::Timestamp, &TimeText>},
  };
  const auto found = kFormats->find(type);
  return found == kFormats->end() ? nullptr : found->second;
}

bool IsMessage(const FieldDescriptor& field) { return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE; }

bool IsFlag(const FieldDescriptor& field) { return field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL; }

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
  if (IsFlag(field)) {
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
  return absl::StrCat(text, InWords(UnitOf(field)));
}

std::string ValueText(const Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated()) {
    return ItemText(message, field, -1);
  }
  constexpr int kMost = 10;
  const int size = message.GetReflection()->FieldSize(message, &field);
  std::vector<std::string> items;
  items.reserve(static_cast<std::size_t>(std::min(size, kMost)));
  for (int i = 0; i < std::min(size, kMost); ++i) {
    items.push_back(ItemText(message, field, i));
  }
  return absl::StrCat(absl::StrJoin(items, ", "),
                      size > kMost ? absl::StrCat(" and ", size - kMost, " more") : "");
}

// Returns true for a field whose value says what it is: the first one, which names the message, unless it is
// an amount, and messages that are not just numbers.
bool StandsForItself(const FieldDescriptor& field) {
  const Descriptor* const type = field.message_type();
  const bool is_name =
      type != nullptr || field.name() == "id" || field.type() == FieldDescriptor::TYPE_STRING;
  return (field.index() == 0 && is_name) ||
         (type != nullptr && (FormatOf(type) == nullptr || type == v1::Shape::descriptor() ||
                              type == v1::EdgeName::descriptor()));
}

// The fields that share a column of a table: all flags, with the header "", or those whose names begin with
// the header.
using Column = std::vector<const FieldDescriptor*>;

std::string HeaderOf(const FieldDescriptor& field) {
  return IsFlag(field) ? "" : absl::AsciiStrToUpper(NameOf(field).substr(0, NameOf(field).find(' ')));
}

std::string CellText(const Message& message, const std::string& header, const Column& column) {
  std::string text;
  for (const FieldDescriptor* const field : column) {
    // A number that is 0 is not told from one that is not set.
    const bool may_be_unset = field->has_presence() || field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
    const bool is_unset = may_be_unset && !message.GetReflection()->HasField(message, field);
    const std::string value = is_unset ? "" : ValueText(message, *field);
    if (IsFlag(*field)) {
      absl::StrAppend(&text, value == "yes" ? " " + NameOf(*field) : "");
    } else if (!value.empty()) {
      absl::StrAppend(&text, IsMessage(*field) ? "" : NameOf(*field).substr(header.size()), " ", value);
    }
  }
  return text.empty() && !header.empty() ? "-" : std::string(absl::StripLeadingAsciiWhitespace(text));
}

// Adds rows with the facts, and a text with the tables below them. Messages of few fields take a row each;
// larger ones stand with their fields.
void AddFacts(const Message& message, std::size_t width, std::vector<TableRow>& rows, std::string& tables) {
  constexpr int kFew = 3;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  for (const FieldDescriptor* const field : FieldsOf(message)) {
    if (IsMessage(*field) && field->is_repeated()) {
      const int size = reflection.FieldSize(message, field);
      std::vector<const Message*> items;
      items.reserve(static_cast<std::size_t>(size));
      for (int i = 0; i < size; ++i) {
        items.push_back(&reflection.GetRepeatedMessage(message, field, i));
      }
      absl::StrAppend(&tables, "\n", FormatTable(TableOf(items), width));
    } else if (IsMessage(*field) && FormatOf(field->message_type()) == nullptr &&
               field->message_type()->field_count() > kFew) {
      AddFacts(reflection.GetMessage(message, field), width, rows, tables);
    } else {
      rows.push_back({NameOf(*field), ValueText(message, *field)});
    }
  }
}

}  // namespace

std::string EnumText(const google::protobuf::EnumDescriptor& type, int value) {
  const auto* const found = type.FindValueByNumber(value);
  // All values begin as the first does, up to its last word.
  const std::size_t begin = type.value(0)->name().rfind('_') + 1;
  return found == nullptr ? "unknown" : absl::AsciiStrToLower(InWords(found->name().substr(begin)));
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
      const bool is_true = IsFlag(*field) && value == "yes";
      parts.push_back(absl::StrCat(NameOf(*field), is_true ? "" : " ", is_true ? "" : value));
    }
  }
  return absl::StrJoin(parts, " ");
}

std::vector<TableRow> TableOf(const std::vector<const Message*>& messages) {
  // The flags come last.
  std::map<std::pair<bool, int>, const FieldDescriptor*> fields;
  for (const Message* const message : messages) {
    for (const FieldDescriptor* const field : FieldsOf(*message)) {
      fields[{IsFlag(*field), field->number()}] = field;
    }
  }
  TableRow headers;
  std::map<std::string, Column> columns;
  for (const auto& [order, field] : fields) {
    const std::string header = HeaderOf(*field);
    if (columns[header].empty()) {
      headers.push_back(header);
    }
    columns[header].push_back(field);
  }
  std::vector<TableRow> rows = {headers};
  for (const Message* const message : messages) {
    TableRow& row = rows.emplace_back();
    for (const std::string& header : headers) {
      row.push_back(CellText(*message, header, columns[header]));
    }
  }
  return messages.empty() ? std::vector<TableRow>() : rows;
}

std::string FactsText(const Message& message, std::size_t width) {
  std::vector<TableRow> rows;
  std::string tables;
  AddFacts(message, width, rows, tables);
  return FormatTable(rows, width) + tables;
}

}  // namespace waystar::cli
