#include "client/cli/trace_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/cell_argument.h"

namespace waystar::cli {
namespace {

std::string KindName(v1::SearchEvent::Kind kind) {
  switch (kind) {
    case v1::SearchEvent::KIND_GENERATED:
      return "generated";
    case v1::SearchEvent::KIND_EXPANDED:
      return "expanded";
    default:
      return "?";
  }
}

}  // namespace

std::string EventText(const v1::SearchEvent& event) {
  const std::string from = event.has_parent() ? absl::StrCat(" from ", FormatCell(event.parent())) : "";
  return absl::StrFormat("%s %s%s g=%.10g f=%.10g", KindName(event.kind()), FormatCell(event.cell()), from,
                         event.g(), event.f());
}

std::string TraceText(const v1::TraceSearchResult& result, std::size_t open_cells) {
  const std::uint64_t generated = result.answer().statistics().generated();
  const std::string entries =
      absl::StrCat("Put on the open list: ", generated, generated == 1 ? " entry" : " entries");
  if (result.truncated()) {
    return absl::StrCat(entries, ". Only the first events are shown: --max-events allows up to 1000000.");
  }
  return absl::StrCat(entries, "; left open: ", open_cells, open_cells == 1 ? " cell" : " cells");
}

}  // namespace waystar::cli
