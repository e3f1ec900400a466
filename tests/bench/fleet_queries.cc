#include "tests/bench/fleet_queries.h"

#include <sched.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "grpcpp/client_context.h"
#include "server/storage/etcd/etcd_address.h"
#include "tests/bench/closed_loop.h"
#include "tests/bench/sample.h"
#include "tests/e2e/server_process.h"
#include "tests/testing/random.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::bench {
namespace {

using testing::ServerProcess;

constexpr int kSmallSide = 64;
constexpr int kLargeSide = 1024;
constexpr int kSmallInFlight = 8;
// Few enough that none waits for so long that the server sheds it.
constexpr int kLargeInFlight = 2;
constexpr int kSmallCalls = 20'000;
constexpr int kLargeCalls = 100;

std::vector<std::string> FlagsOf(const testing::EtcdCluster& etcd) {
  const etcd::Endpoint member = etcd.Options().endpoints.front();
  return {"--workers=1", absl::StrCat("--cluster=etcd://", member.host, ":", member.port, "/queries")};
}

// Creates a map with one cell of four blocked, at random, or none; its first and last rows and columns are
// free.
void CreateMap(const ServerProcess& server, const std::string& name, int side, bool has_obstacles) {
  testing::Random random(7);
  v1::CreateMapRequest request;
  request.set_map(name);
  for (int y = 0; y < side; ++y) {
    std::string row(static_cast<std::size_t>(side), '.');
    for (int x = 1; has_obstacles && y > 0 && y + 1 < side && x + 1 < side; ++x) {
      row[static_cast<std::size_t>(x)] = random.Between(0, 3) == 0 ? '#' : '.';
    }
    request.add_rows(row);
  }
  v1::CreateMapResponse response;
  grpc::ClientContext context;
  const grpc::Status status =
      v1::MapService::NewStub(server.NewChannel())->CreateMap(&context, request, &response);
  if (!status.ok()) {
    std::cerr << "the map was not created: " << status.error_message() << "\n";
    std::exit(EXIT_FAILURE);
  }
}

v1::FindPathRequest Across(const std::string& map, int side) {
  v1::FindPathRequest request;
  request.set_map(map);
  request.mutable_start()->mutable_cell();
  v1::Cell& goal = *request.add_goals()->mutable_cell();
  goal.set_x(side - 1);
  goal.set_y(side - 1);
  return request;
}

double CpuMicros(const ServerProcess& server) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(server.pid(), &clock) != 0 || clock_gettime(clock, &time) != 0) {
    std::cerr << "the server's processor time is not to be had\n";
    std::exit(EXIT_FAILURE);
  }
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

double MicrosPerCall(const ServerProcess& server) {
  const v1::FindPathRequest request = Across("small", kSmallSide);
  RunClosedLoop(server.port(), request, kSmallInFlight, kSmallCalls / 10);
  const double before = CpuMicros(server);
  RunClosedLoop(server.port(), request, kSmallInFlight, kSmallCalls);
  return (CpuMicros(server) - before) / kSmallCalls;
}

void MeasureCost(const testing::EtcdCluster& etcd, int rounds) {
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
                   kSmallSide, kSmallSide, of_alone.Percentile(0.5), of_member.Percentile(0.5),
                   of_member.Percentile(0.5) / of_alone.Percentile(0.5))
            << std::flush;
}

void PinTo(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof(cores), &cores);
}

double CallsPerSecond(const ServerProcess& server) {
  const LoopResult result =
      RunClosedLoop(server.port(), Across("large", kLargeSide), kLargeInFlight, kLargeCalls);
  return kLargeCalls / result.elapsed.count();
}

void MeasureScaling(const testing::EtcdCluster& etcd, int rounds) {
  const ServerProcess first(FlagsOf(etcd), [] { PinTo(0); });
  CreateMap(first, "large", kLargeSide, true);
  const ServerProcess second(FlagsOf(etcd), [] { PinTo(1); });
  CallsPerSecond(first);
  CallsPerSecond(second);
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
                   kLargeSide, kLargeSide, of_one.Percentile(0.5), of_two.Percentile(0.5),
                   of_two.Percentile(0.5) / of_one.Percentile(0.5))
            << std::flush;
}

}  // namespace

void MeasureFleetQueries(const testing::EtcdCluster& etcd, int rounds) {
  MeasureCost(etcd, rounds);
  MeasureScaling(etcd, rounds);
}

}  // namespace waystar::bench
