#include "tests/bench/served_load.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"

namespace waystar::bench {

load::Report RunLoad(int port, load::Part part, const load::Settings& settings) {
  const client::Options server{.target = absl::StrCat("127.0.0.1:", port), .retry = false};
  const auto workload =
      OrDie(load::Workload::Make({std::move(part)}, client::Client(server), 0, /*want_toggles=*/false));
  load::Report report = OrDie(load::Run(settings, server, workload));
  for (const auto& [cause, failures] : report.tally.failures) {
    Die(absl::StrCat("a call failed: ", failures.message));
  }
  return report;
}

}  // namespace waystar::bench
