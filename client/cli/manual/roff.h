// Writers of text as roff, the language of manual pages.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace waystar::cli {

// Writes a line of text, in which whatever means something in roff is taken literally.
std::string RoffText(absl::string_view text);

// Writes an argument of a macro, in quotes.
std::string RoffArgument(absl::string_view text);

// Writes paragraphs that empty lines separate. Lines that begin with spaces, and a line in front of them that
// ends with a colon, keep their shape; other lines of a paragraph flow together.
std::string RoffParagraphs(absl::string_view text);

}  // namespace waystar::cli
