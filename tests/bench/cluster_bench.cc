// Times changes of a fleet's maps beside bare transactions of etcd, on members that are started here, and
// queries.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/storage/etcd/etcd_client.h"
#include "server/storage/fleet/fleet.h"
#include "tests/bench/fleet_queries.h"
#include "tests/bench/sample.h"
#include "tests/bench/stopwatch.h"
#include "tests/storage/etcd/etcd_process.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/random.h"
#include "tests/testing/store_edits.h"

ABSL_FLAG(int, singles, 500, "Changes that are made one after the other.");
ABSL_FLAG(int, gathered, 100'000, "Changes that are made many at a time.");
ABSL_FLAG(int, rounds, 3, "How often each is measured.");

namespace waystar::bench {
namespace {

constexpr char kMap[] = "map";
constexpr int kSide = 256;
constexpr int kInFlight = 1000;

void OrDie(const absl::Status& status) {
  if (!status.ok()) {
    std::cerr << status << "\n";
    std::exit(1);
  }
}

template <typename Value>
Value OrDie(absl::StatusOr<Value> value) {
  OrDie(value.status());
  return *std::move(value);
}

// A server of the fleet, whose maps get no images.
class Server {
 public:
  explicit Server(const testing::EtcdCluster& etcd) {
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

core::UpdateBatch AnyBatch(testing::Random& random) {
  return {.edits = {testing::Block({random.Between(0, kSide - 1), random.Between(0, kSide - 1)})}};
}

// Makes many changes of the map, and returns how many a second.
double Gather(Server& server, int count, testing::Random& random) {
  Mutex mutex;
  CondVar done;
  int in_flight = 0;
  const double micros = MicrosOf([&] {
    for (int i = 0; i < count; ++i) {
      {
        MutexLock lock(mutex);
        while (in_flight == kInFlight) {
          done.Wait(mutex);
        }
        ++in_flight;
      }
      server.store.Update(kMap, AnyBatch(random), [&](const absl::StatusOr<core::UpdateResult>& result) {
        OrDie(result.status());
        MutexLock lock(mutex);
        --in_flight;
        done.NotifyOne();
      });
    }
    MutexLock lock(mutex);
    while (in_flight > 0) {
      done.Wait(mutex);
    }
  });
  return count / micros * 1e6;
}

void Measure(int members) {
  const testing::EtcdCluster etcd(members);
  const auto client = etcd.NewClient();
  testing::Random random(1);
  Server server(etcd);
  OrDie(server.store
            .Create(kMap, testing::DrawMap(std::vector<std::string>(kSide, std::string(kSide, '.'))),
                    server.store.Now())
            .status());
  const std::string value(256, 'x');
  Sample bare;
  Sample commits;
  Sample rates;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (int i = 0; i < absl::GetFlag(FLAGS_singles); ++i) {
      bare.Add(MicrosOf([&] { OrDie(client->Commit({.then = {etcd::Put{"/bare", value}}}).status()); }));
      commits.Add(MicrosOf([&] { OrDie(server.store.UpdateAndWait(kMap, AnyBatch(random)).status()); }));
    }
    rates.Add(Gather(server, absl::GetFlag(FLAGS_gathered) / absl::GetFlag(FLAGS_rounds), random));
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
                   members, bare.Percentile(0.5), bare.Percentile(0.99), commits.Percentile(0.5),
                   commits.Percentile(0.99), commits.Percentile(0.5) / bare.Percentile(0.5), kInFlight,
                   rates.Percentile(0.5), revision, start / 1e6)
            << std::flush;
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  if (!waystar::testing::EtcdCluster::IsInstalled()) {
    std::cerr << "there is no etcd on the PATH: apt-get install etcd-server\n";
    return 1;
  }
  waystar::bench::Measure(1);
  waystar::bench::Measure(3);
  waystar::bench::MeasureFleetQueries(waystar::testing::EtcdCluster(1), absl::GetFlag(FLAGS_rounds));
  return 0;
}
