#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace waystar::cli {

// Formatter of CLI11's help, without the types of positional arguments, whose names say enough.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace waystar::cli
