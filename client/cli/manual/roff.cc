#include "client/cli/manual/roff.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace waystar::cli {
namespace {

bool KeepsShape(absl::string_view line) { return absl::StartsWith(line, " "); }

}  // namespace

std::string RoffText(absl::string_view text) {
  // As it is typed: minus signs, straight quotes, and no accents.
  const std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"},
                                                         {"-", "\\-"},
                                                         {"'", "\\(aq"},
                                                         {"^", "\\(ha"},
                                                         {"~", "\\(ti"},
                                                         {"`", "\\(ga"},
                                                         {"…", "..."}});
  return absl::StartsWith(escaped, ".") ? absl::StrCat("\\&", escaped) : escaped;
}

std::string RoffArgument(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(RoffText(text), {{"\"", "\\(dq"}}), "\"");
}

std::string RoffParagraphs(absl::string_view text) {
  std::string roff;
  bool is_in_shape = false;
  bool begins_paragraph = true;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (is_in_shape && !KeepsShape(line)) {
      roff += ".fi\n.RE\n";
      is_in_shape = false;
    }
    if (line.empty()) {
      begins_paragraph = true;
      continue;
    }
    if (KeepsShape(line) && !is_in_shape) {
      roff += begins_paragraph ? ".PP\n.RS\n.nf\n" : ".RS\n.nf\n";
      is_in_shape = true;
    } else if (begins_paragraph && !is_in_shape) {
      roff += ".PP\n";
    }
    begins_paragraph = false;
    absl::StrAppend(&roff, RoffText(is_in_shape ? line.substr(2) : line), "\n");
  }
  return is_in_shape ? roff + ".fi\n.RE\n" : roff;
}

}  // namespace waystar::cli
