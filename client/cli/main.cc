#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "client/cli/app.h"

namespace {

void DescribeTerminal(waystar::cli::Io& io) {
  io.is_terminal = isatty(STDOUT_FILENO) == 1;
  const char* const no_color = std::getenv("NO_COLOR");
  io.no_color = no_color != nullptr && *no_color != '\0';
  const char* const terminal = std::getenv("TERM");
  io.shows_progress =
      isatty(STDERR_FILENO) == 1 && terminal != nullptr && absl::string_view(terminal) != "dumb";
  winsize size{};
  if (io.is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    io.window = {size.ws_col, size.ws_row};
  }
  // The user's word goes before the terminal's.
  const char* const columns = std::getenv("COLUMNS");
  if (int wanted = 0; columns != nullptr && absl::SimpleAtoi(columns, &wanted) && wanted > 0) {
    io.window.columns = wanted;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Suppresses the RPC library's own messages on standard error.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  std::ios::sync_with_stdio(false);
  waystar::cli::Io io{std::cin, std::cout, std::cerr};
  DescribeTerminal(io);
  return static_cast<int>(waystar::cli::Run(std::vector<std::string>(argv + 1, argv + argc), io));
}
