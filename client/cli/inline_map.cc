#include "client/cli/inline_map.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/cli/files.h"
#include "client/cli/graph_text.h"

namespace waystar::cli {

absl::StatusOr<v1::InlineMap> ReadInlineMap(const std::string& file, std::istream& standard_input) {
  const absl::StatusOr<std::string> bytes = ReadInput(file, standard_input);
  if (!bytes.ok()) {
    return bytes.status();
  }
  v1::InlineMap map;
  if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(*bytes), "{")) {
    absl::StatusOr<v1::WaypointGraph> graph = ParseGraph(*bytes);
    if (!graph.ok()) {
      return graph.status();
    }
    map.mutable_graph()->Swap(&*graph);
    return map;
  }
  for (const absl::string_view line : absl::StrSplit(absl::StripTrailingAsciiWhitespace(*bytes), '\n')) {
    map.add_rows(std::string(absl::StripTrailingAsciiWhitespace(line)));
  }
  return map;
}

}  // namespace waystar::cli
