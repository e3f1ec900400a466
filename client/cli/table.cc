#include "client/cli/table.h"

#include <google/protobuf/stubs/common.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/errors.h"

namespace waystar::cli {
namespace {

constexpr absl::string_view kGap = "  ";
constexpr absl::string_view kEllipsis = "…";
constexpr std::size_t kNarrowest = 4;

// Returns true unless it is a continuation byte of UTF-8, which starts with the bits 10.
bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::size_t CharactersOf(absl::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), &BeginsCharacter));
}

absl::string_view FirstCharacters(absl::string_view text, std::size_t count) {
  std::size_t end = 0;
  while (end < text.size() && (!BeginsCharacter(text[end]) || count-- > 0)) {
    ++end;
  }
  return text.substr(0, end);
}

// The widest column gives way to the next widest, and so on.
void Narrow(std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t total = widths.empty() ? 0 : (widths.size() - 1) * kGap.size();
  for (const std::size_t column : widths) {
    total += column;
  }
  while (total > width) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kNarrowest) {
      return;
    }
    --*widest;
    --total;
  }
}

void AppendCell(absl::string_view text, std::size_t width, std::string& line) {
  std::size_t characters = CharactersOf(text);
  if (characters > width) {
    absl::StrAppend(&line, FirstCharacters(text, width - 1), kEllipsis);
    characters = width;
  } else {
    absl::StrAppend(&line, text);
  }
  line.append(width - characters, ' ');
}

}  // namespace

std::string Counted(std::int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string DigestText(std::uint64_t digest) {
  return digest == 0 ? "-" : absl::StrCat(absl::Hex(digest, absl::kZeroPad16));
}

std::string FormatTable(const std::vector<TableRow>& rows, std::size_t width) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], CharactersOf(row[i]));
    }
  }
  Narrow(widths, width);
  std::string text;
  for (const TableRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      AppendCell(row[i], widths[i], line);
      absl::StrAppend(&line, kGap);
    }
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return text;
}

std::string ToJson(const google::protobuf::Message& message, bool pretty) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = pretty;
#if GOOGLE_PROTOBUF_VERSION < 5026000
  options.always_print_primitive_fields = true;
#else
  options.always_print_fields_with_no_presence = true;
#endif
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) {
    return "{}\n";
  }
  return std::string(absl::StripSuffix(json, "\n")) + "\n";
}

std::string ToJson(const absl::Status& status, bool pretty) {
  return ToJson(client::ToMessage(status), pretty);
}

}  // namespace waystar::cli
