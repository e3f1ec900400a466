// What callers see of servers that end and begin again: calls that are under way when one is told to stop,
// and a rolling restart of two.

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "tests/bench/bench.h"
#include "tests/e2e/server_process.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

ABSL_FLAG(int, callers, 16, "Threads that ask without a pause; every other one for something large.");
ABSL_FLAG(double, seconds, 2.0, "Of load before, between and after the restarts.");
ABSL_FLAG(std::string, service_config, "client/service_config.json",
          "What the channel to both servers is given.");

namespace waystar::bench {
namespace {

using Clock = std::chrono::steady_clock;
using testing::ServerProcess;

constexpr int kSide = 600;

struct Call {
  bool is_large = false;
  Clock::time_point begin;
  Clock::time_point end;
  grpc::Status status;
};

void CreateField(const ServerProcess& server) {
  OrDie(server.NewClient()->CreateMap(testing::BlankMap("field", kSide)).status());
}

// Threads that ask over one channel until they are stopped.
class Callers {
 public:
  explicit Callers(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::PathService::NewStub(channel)),
        calls_(static_cast<std::size_t>(absl::GetFlag(FLAGS_callers))) {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      threads_.emplace_back([this, i] { Ask(i % 2 == 1, calls_[i]); });
    }
  }

  // All calls, in no order.
  std::vector<Call> Stop() {
    is_over_ = true;
    std::vector<Call> all;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      threads_[i].join();
      all.insert(all.end(), calls_[i].begin(), calls_[i].end());
    }
    return all;
  }

 private:
  void Ask(bool is_large, std::vector<Call>& calls) {
    v1::FindPathRequest request = testing::PathAcross("field", kSide);
    request.set_path_form(v1::PATH_FORM_CORNERS);
    // Tens of milliseconds and tens of microseconds.
    request.set_algorithm(is_large ? v1::ALGORITHM_DIJKSTRA : v1::ALGORITHM_AUTO);
    while (!is_over_) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
      v1::FindPathResponse response;
      Call call{.is_large = is_large, .begin = Clock::now(), .end = {}, .status = {}};
      call.status = stub_->FindPath(&context, request, &response);
      call.end = Clock::now();
      calls.push_back(call);
    }
  }

  const std::unique_ptr<v1::PathService::Stub> stub_;
  std::atomic<bool> is_over_ = false;
  std::vector<std::vector<Call>> calls_;
  std::vector<std::thread> threads_;
};

void SleepForALoad() {
  std::this_thread::sleep_for(std::chrono::duration<double>(absl::GetFlag(FLAGS_seconds)));
}

std::vector<std::string> Flags(int port) {
  return {absl::StrCat("--listen=127.0.0.1:", port), "--workers=2", "--max_queue_time=10s",
          "--queue_target=10s", "--log_level=error"};
}

// One server, asked without repetitions, is told to stop.
void StopUnderLoad() {
  ServerProcess server(Flags(0));
  CreateField(server);
  Callers callers(server.NewChannel());
  SleepForALoad();
  const Clock::time_point told = Clock::now();
  server.Signal(SIGTERM);
  server.Wait();
  const Clock::time_point ended = Clock::now();
  const std::vector<Call> calls = callers.Stop();
  std::size_t under_way = 0;
  std::size_t answered = 0;
  std::size_t refused = 0;
  for (const Call& call : calls) {
    if (call.begin < told && call.end > told) {
      ++under_way;
      answered += call.status.ok() ? 1 : 0;
      refused += call.status.error_code() == grpc::StatusCode::UNAVAILABLE ? 1 : 0;
    }
  }
  std::cout << absl::StreamFormat(
      "stop: %d calls under way at SIGTERM: %d answered, %d refused before they began, %d dropped; ended "
      "after %.0f ms\n",
      under_way, answered, refused, under_way - answered - refused,
      std::chrono::duration<double, std::milli>(ended - told).count());
}

// Two servers, asked by one channel with the service config, are restarted one after the other.
void RollingRestart() {
  std::unique_ptr<ServerProcess> servers[2];
  for (auto& server : servers) {
    server = std::make_unique<ServerProcess>(Flags(0));
    CreateField(*server);
  }
  std::ifstream file(absl::GetFlag(FLAGS_service_config));
  const std::string config((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(config);
  const int ports[2] = {servers[0]->port(), servers[1]->port()};
  Callers callers(
      grpc::CreateCustomChannel(absl::StrCat("ipv4:127.0.0.1:", ports[0], ",127.0.0.1:", ports[1]),
                                grpc::InsecureChannelCredentials(), arguments));
  for (int i = 0; i < 2; ++i) {
    SleepForALoad();
    servers[i]->Signal(SIGTERM);
    servers[i]->Wait();
    servers[i] = std::make_unique<ServerProcess>(Flags(ports[i]));
    CreateField(*servers[i]);
  }
  SleepForALoad();
  const std::vector<Call> calls = callers.Stop();
  Sample milliseconds[2];
  std::size_t errors = 0;
  for (const Call& call : calls) {
    milliseconds[call.is_large ? 1 : 0].Add(
        std::chrono::duration<double, std::milli>(call.end - call.begin).count());
    if (!call.status.ok() && errors++ < 5) {
      std::cerr << call.status.error_code() << " " << call.status.error_message() << "\n";
    }
  }
  std::cout << absl::StreamFormat("rolling restart: %d calls, %d errors\n", calls.size(), errors);
  for (Sample& of_kind : milliseconds) {
    std::cout << absl::StreamFormat(
        "  %s: %d calls, 50%% within %.1f ms, 99%% %.1f ms, the slowest %.1f ms\n",
        &of_kind == milliseconds ? "small" : "large", of_kind.size(), of_kind.Median(),
        of_kind.Percentile(0.99), of_kind.Percentile(1.0));
  }
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::bench::StopUnderLoad();
  waystar::bench::RollingRestart();
  return 0;
}
