// Messages as text for people, made from their descriptors.
#pragma once

#include <google/protobuf/generated_enum_reflection.h>
#include <google/protobuf/message.h>
#include <google/protobuf/repeated_ptr_field.h>

#include <cstddef>
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

// Writes the fields that are set, also those of the messages in the message, a line each: "memory  4096
// bytes". A message of few fields has one line. Tables of the lists of messages follow.
std::string FactsText(const google::protobuf::Message& message, std::size_t width);

// Returns a table with a row for each of some messages, all of one type, and a column for each field that is
// set in any of them. Fields whose names begin with the same word share a column, as "factor 2.5" and
// "addition 5" share COST; flags that are true stand there by name, in the last column.
std::vector<TableRow> TableOf(const std::vector<const google::protobuf::Message*>& messages);

template <typename Message>
std::vector<TableRow> TableOf(const google::protobuf::RepeatedPtrField<Message>& messages) {
  return TableOf(
      std::vector<const google::protobuf::Message*>(messages.pointer_begin(), messages.pointer_end()));
}

}  // namespace waystar::cli
