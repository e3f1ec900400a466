#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace waystar::cli {

using TableRow = std::vector<std::string>;

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

// Writes "1 cell", or "2 cells".
std::string Counted(std::int64_t count, absl::string_view noun);

// Returns 16 hexadecimal digits, or "-" for the 0 of a server that tells no digest.
std::string DigestText(std::uint64_t digest);

// Writes the rows as lines of text, with two spaces between columns that are as wide as they need to be.
// Where a line would be wider than `width` characters, the widest columns are cut, with an ellipsis where
// something is missing, but none to fewer than four characters: a table of very many columns stays too wide.
std::string FormatTable(const std::vector<TableRow>& rows, std::size_t width = kAnyWidth);

// Writes the message in protobuf's JSON, with the names of its enums and all fields that are not messages: on
// one line, or if `pretty` on several with indentation. It ends with a newline.
std::string ToJson(const google::protobuf::Message& message, bool pretty);

// Writes a failed call in the same way, as a google.rpc.Status with the details that the server sent.
std::string ToJson(const absl::Status& status, bool pretty);

// Reads a message in protobuf's JSON. Returns INVALID_ARGUMENT if it is not such a message.
template <typename Message>
absl::StatusOr<Message> FromJson(absl::string_view json, bool ignore_unknown_fields = false) {
  Message message;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = ignore_unknown_fields;
  const auto read =
      google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, &message, options);
  if (!read.ok()) {
    return absl::InvalidArgumentError(std::string(read.message()));
  }
  return message;
}

}  // namespace waystar::cli
