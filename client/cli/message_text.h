// Messages as text for people, made from their descriptors.
#pragma once

#include <google/protobuf/generated_enum_reflection.h>
#include <google/protobuf/message.h>
#include <google/protobuf/repeated_ptr_field.h>

#include <string>
#include <vector>

#include "client/cli/table.h"

namespace waystar::cli {

// Writes a value of an enum as words: "jump point search".
std::string EnumText(const google::protobuf::EnumDescriptor& type, int value);

template <typename Enum>
std::string EnumText(Enum value) {
  return EnumText(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}

// Writes the fields that are set on one line: "gate disc:10,4,2.5 cost factor 2.5 lifetime 30s". Places,
// shapes and the like stand there as they are typed. Of a list it writes the first ten.
std::string MessageText(const google::protobuf::Message& message);

// Returns a row for each field that is set, also those of the messages in the message, "grid width": its
// name, and its value. A list of messages has a row for each.
std::vector<TableRow> FactsOf(const google::protobuf::Message& message, const std::string& prefix = "");

// Returns a table with a row for each of some messages, all of one type, and a column for each field that is
// set in any of them.
std::vector<TableRow> TableOf(const std::vector<const google::protobuf::Message*>& messages);

template <typename Message>
std::vector<TableRow> TableOf(const google::protobuf::RepeatedPtrField<Message>& messages) {
  return TableOf(
      std::vector<const google::protobuf::Message*>(messages.pointer_begin(), messages.pointer_end()));
}

}  // namespace waystar::cli
