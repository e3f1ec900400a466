// Text as roff, the language of manual pages.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace waystar::cli {

// A line of text, with whatever means something in roff taken literally.
std::string RoffText(absl::string_view text);

// As an argument of a macro, in quotes.
std::string RoffArgument(absl::string_view text);

// Paragraphs that empty lines part. Lines of one that begin with spaces, and a line that ends with a colon in
// front of them, keep their shape; others flow together.
std::string RoffParagraphs(absl::string_view text);

}  // namespace waystar::cli
