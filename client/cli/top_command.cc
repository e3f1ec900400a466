#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/exit_code.h"
#include "client/cli/shape_argument.h"
#include "client/cli/top_rates.h"

namespace waystar::cli {
namespace {

// To the top left, and away with all that is there.
constexpr char kRedraw[] = "\x1b[H\x1b[J";

struct TopArguments {
  absl::Duration interval = absl::Seconds(1);
  // Number of reports; 0 for no limit.
  std::uint64_t count = 0;
  // Number of maps to show.
  std::uint64_t maps = 20;
};

// Without a terminal, the window is unlimited.
Window WindowOf(const Io& io) {
  constexpr int kUnlimited = std::numeric_limits<int>::max() / 2;
  return io.is_terminal ? io.window : Window{kUnlimited, kUnlimited};
}

ExitCode Top(const TopArguments& arguments, Session& session) {
  Io& io = session.io();
  const bool is_json = session.options().json;
  const bool is_live = io.is_terminal && !is_json && arguments.count == 0;
  const std::string& server = session.options().connection.target;
  auto before = session.client().GetMetrics();
  if (!before.ok()) {
    return session.Fail(before.status());
  }
  for (std::uint64_t told = 0; arguments.count == 0 || told < arguments.count; ++told) {
    absl::SleepFor(arguments.interval);
    auto after = session.client().GetMetrics();
    if (!after.ok() && !(is_live && absl::IsUnavailable(after.status()))) {
      return session.Fail(after.status());
    }
    io.out << (is_live ? kRedraw : told > 0 && !is_json ? "\n" : "");
    if (!after.ok()) {
      // It may be started again.
      io.out << session.TextOf(after.status()) << "\n" << std::flush;
      continue;
    }
    Rates rates = RatesBetween(*before, *after);
    rates.maps.resize(std::min<std::size_t>(rates.maps.size(), arguments.maps));
    io.out << (is_json ? TopJson(rates, server) : TopText(rates, server, WindowOf(io))) << std::flush;
    if (!io.out) {
      break;
    }
    before = std::move(after);
  }
  return ExitCode::kOk;
}

}  // namespace

void AddTopCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<TopArguments>();
  CLI::App& command = AddCommand(
      parent, session, "top",
      "Shows what the server is doing: requests and how long they take, queues, maps; until Ctrl-C",
      arguments, &Top);
  AddParsed(
      command, "--interval", &ParseTimeout,
      [arguments](absl::Duration interval) { arguments->interval = interval; },
      "How often to look [1s]; what is shown is what happened in between")
      ->type_name("TIME");
  command.add_option("--count", arguments->count, "End after so many looks")->type_name("N");
  command.add_option("--maps", arguments->maps, "How many maps to show, the largest first [20; 200 at most]")
      ->type_name("N");
  command.footer(
      "On a terminal in place, as much as fits; elsewhere, and with --count, one table below the other. "
      "With\n"
      "--json, one object a line: rates a second, lengths of time in nanoseconds.\n\n"
      "Requests are calls, of StreamFindPath queries, of StreamUpdates batches. Times are those on the\n"
      "server, estimated from buckets that double from 4 us. Workers are busy with what is not small enough\n"
      "to be answered where it arrives.\n\n"
      "Examples:\n"
      "  waystar top\n"
      "  waystar top --interval 10s --json | jq .requests_per_second\n");
}

}  // namespace waystar::cli
