// Times changes of a fleet's maps beside bare transactions of etcd, on members that are started here, and
// queries.

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/core/store/map_store.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/fleet.h"
#include "tests/bench/bench.h"
#include "tests/bench/served_load.h"
#include "tests/e2e/server_process.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/store_edits.h"

ABSL_FLAG(int, rounds, 3, "How often each is measured.");

namespace waystar::bench {
namespace {

constexpr int kSmallSide = 64;
constexpr int kLargeSide = 1024;
constexpr int kSmallInFlight = 8;
// Few enough that none waits for so long that the server sheds it.
constexpr int kLargeInFlight = 2;

std::vector<std::string> FlagsOf(const EtcdCluster& etcd) {
  const etcd::Endpoint member = etcd.Options().endpoints.front();
  return {"--workers=1", absl::StrCat("--cluster=etcd://", member.host, ":", member.port, "/queries")};
}

// Creates a map with one cell of four blocked, at random, or none; its first and last rows and columns are
// free.
void CreateMap(const ServerProcess& server, const std::string& name, int side, bool has_obstacles) {
  Random random(7);
  v1::CreateMapRequest request;
  request.set_map(name);
  for (int y = 0; y < side; ++y) {
    std::string row(static_cast<std::size_t>(side), '.');
    for (int x = 1; has_obstacles && y > 0 && y + 1 < side && x + 1 < side; ++x) {
      row[static_cast<std::size_t>(x)] = random.Between(0, 3) == 0 ? '#' : '.';
    }
    request.add_rows(row);
  }
  OrDie(server.NewClient()->CreateMap(request).status());
}

load::Report Ask(const ServerProcess& server, const std::string& map, int side, int in_flight) {
  return RunLoad(server.port(), {.queries = {PathAcross(map, side)}},
                 {.in_flight = in_flight, .duration = std::chrono::seconds(3)});
}

double MicrosPerCall(const ServerProcess& server) {
  const load::Report report = Ask(server, "small", kSmallSide, kSmallInFlight);
  return std::chrono::duration<double, std::micro>(report.server_cpu.value()).count() /
         static_cast<double>(report.tally.answered);
}

// Prints the processor time of small queries that a server of a fleet answers beside that of a server by
// itself, in turns.
void MeasureCost(const EtcdCluster& etcd, int rounds) {
  const ServerProcess alone({"--workers=1"});
  const ServerProcess member(FlagsOf(etcd));
  CreateMap(alone, "small", kSmallSide, false);
  CreateMap(member, "small", kSmallSide, false);
  Sample of_alone;
  Sample of_member;
  for (int round = 0; round < rounds; ++round) {
    of_alone.Add(MicrosPerCall(alone));
    of_member.Add(MicrosPerCall(member));
  }
  std::cout << absl::StreamFormat(
                   "a query of %d x %d, us of the server's processor (median round): %.2f by itself, %.2f in "
                   "a fleet, "
                   "ratio %.3f\n",
                   kSmallSide, kSmallSide, of_alone.Median(), of_member.Median(),
                   of_member.Median() / of_alone.Median())
            << std::flush;
}

void PinTo(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof(cores), &cores);
}

double CallsPerSecond(const ServerProcess& server) {
  return Ask(server, "large", kLargeSide, kLargeInFlight).QueriesPerSecond();
}

// Prints how many large queries a second one server answers, and two of a fleet, each with a core of its own.
void MeasureScaling(const EtcdCluster& etcd, int rounds) {
  const ServerProcess first(FlagsOf(etcd), [] { PinTo(0); });
  CreateMap(first, "large", kLargeSide, true);
  const ServerProcess second(FlagsOf(etcd), [] { PinTo(1); });
  Sample of_one;
  Sample of_two;
  for (int round = 0; round < rounds; ++round) {
    of_one.Add(CallsPerSecond(first));
    double beside = 0;
    std::thread other([&] { beside = CallsPerSecond(second); });
    const double rate = CallsPerSecond(first);
    other.join();
    of_two.Add(rate + beside);
  }
  std::cout << absl::StreamFormat(
                   "queries of %d x %d a second (median round): %.1f of one server, %.1f of two, each on a "
                   "core of its "
                   "own, ratio %.2f\n",
                   kLargeSide, kLargeSide, of_one.Median(), of_two.Median(),
                   of_two.Median() / of_one.Median())
            << std::flush;
}

constexpr char kMap[] = "map";
constexpr int kSide = 256;
constexpr int kInFlight = 1000;
constexpr int kSingles = 500;
constexpr int kGathered = 100'000;

// A server of the fleet, whose maps get no images.
class Server {
 public:
  explicit Server(const EtcdCluster& etcd) {
    cluster::FleetOptions options{.client = etcd.Options(), .prefix = "/bench/"};
    options.log.max_records = ~std::uint64_t{0};
    options.log.max_record_bytes = ~std::uint64_t{0};
    cluster::FleetFound found;
    fleet_ = OrDie(cluster::Fleet::Open(options, store, found));
  }

  core::MapStore store{core::StoreOptions()};

 private:
  std::unique_ptr<cluster::Fleet> fleet_;
};

core::UpdateBatch AnyBatch(Random& random) {
  return {.edits = {Block({random.Between(0, kSide - 1), random.Between(0, kSide - 1)})}};
}

// Makes many changes of the map, and returns how many a second.
double Gather(Server& server, int count, Random& random) {
  InFlight in_flight;
  const double micros = MicrosOf([&] {
    for (int i = 0; i < count; ++i) {
      in_flight.Begin(kInFlight);
      server.store.Update(kMap, AnyBatch(random), [&](const absl::StatusOr<core::UpdateResult>& result) {
        in_flight.End(result.status());
      });
    }
    in_flight.WaitForAll();
  });
  return count / micros * 1e6;
}

void Measure(int members) {
  const EtcdCluster etcd(members);
  const auto client = etcd.NewClient();
  Random random(1);
  Server server(etcd);
  OrDie(
      server.store
          .Create(kMap, DrawMap(std::vector<std::string>(kSide, std::string(kSide, '.'))), server.store.Now())
          .status());
  const std::string value(256, 'x');
  Sample bare;
  Sample commits;
  Sample rates;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (int i = 0; i < kSingles; ++i) {
      bare.Add(MicrosOf([&] { OrDie(client->Commit({.then = {etcd::Put{"/bare", value}}}).status()); }));
      commits.Add(MicrosOf([&] { OrDie(server.store.UpdateAndWait(kMap, AnyBatch(random)).status()); }));
    }
    rates.Add(Gather(server, kGathered / absl::GetFlag(FLAGS_rounds), random));
  }
  const double start = MicrosOf([&] {
    const Server late(etcd);
    OrDie(late.store.Pin(kMap).status());
  });
  const std::uint64_t revision = OrDie(server.store.Pin(kMap))->revision;
  std::cout << absl::StreamFormat(
                   "%d members: bare put %.0f %.0f us (p50 p99), commit %.0f %.0f us, ratio of p50 %.2f; "
                   "%d in flight: %.0f changes/s (median round); a server at revision 0 has caught up with "
                   "%d in %.2f s\n",
                   members, bare.Median(), bare.Percentile(0.99), commits.Median(), commits.Percentile(0.99),
                   commits.Median() / bare.Median(), kInFlight, rates.Median(), revision, start / 1e6)
            << std::flush;
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  if (!waystar::EtcdCluster::IsInstalled()) {
    waystar::bench::Die("there is no etcd on the PATH: apt-get install etcd-server");
  }
  waystar::bench::Measure(1);
  waystar::bench::Measure(3);
  const waystar::EtcdCluster etcd(1);
  waystar::bench::MeasureCost(etcd, absl::GetFlag(FLAGS_rounds));
  waystar::bench::MeasureScaling(etcd, absl::GetFlag(FLAGS_rounds));
  return 0;
}
