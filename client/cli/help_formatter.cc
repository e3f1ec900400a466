#include "client/cli/help_formatter.h"

#include "absl/strings/str_cat.h"

namespace waystar::cli {
namespace {

constexpr size_t kColumnWidth = 40;

}  // namespace

HelpFormatter::HelpFormatter() { column_width(kColumnWidth); }

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional() || option->get_type_size() == 0) {
    return "";
  }
  const std::string variable = option->get_envname();
  return absl::StrCat(" ", option->get_type_name(),
                      variable.empty() ? "" : absl::StrCat(" ($", variable, ")"));
}

}  // namespace waystar::cli
