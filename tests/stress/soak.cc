// Random edits, queries, watches, deletes and re-creates over real sockets, by clients that wait for their
// answers and by others that go away, cancel or let deadlines pass; and what all of that does to the server's
// process. Ends with 1 if a call fails in a way that it must not, or if memory, threads or open files grow
// after the warm-up.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/client.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "tests/e2e/server_process.h"
#include "tests/stress/random_requests.h"
#include "tests/stress/rude_clients.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"

ABSL_FLAG(double, minutes, 1.0, "How long to go on.");
ABSL_FLAG(int, side, 256, "Of the maps, in cells.");
ABSL_FLAG(std::uint64_t, seed, 1, "Of the requests.");
ABSL_FLAG(bool, judge_memory, true, "Off where a sanitizer keeps what was freed.");

namespace waystar::stress {
namespace {

constexpr int kWatchers = 8;

struct ProcessFigures {
  // Resident.
  std::size_t bytes = 0;
  std::size_t threads = 0;
  std::size_t open_files = 0;
};

// How much more than before is no growth: chance, what an allocator keeps, how many clients there just are.
struct Allowance {
  double share = 0.0;
  std::size_t amount = 0;
};
constexpr Allowance kBytesAllowance = {.share = 0.05, .amount = std::size_t{24} << 20};
constexpr Allowance kThreadsAllowance = {.share = 0.1, .amount = 6};
constexpr Allowance kOpenFilesAllowance = {.share = 0.1, .amount = 12};

std::size_t EntriesOf(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

double MeanOf(const std::vector<ProcessFigures>& samples, std::size_t begin, std::size_t end,
              std::size_t ProcessFigures::*figure) {
  double sum = 0.0;
  for (std::size_t i = begin; i < end; ++i) {
    sum += static_cast<double>(samples[i].*figure);
  }
  return sum / static_cast<double>(end - begin);
}

// All zero if there is no such process.
ProcessFigures FiguresOf(pid_t process) {
  const std::string folder = absl::StrCat("/proc/", process);
  std::ifstream file(folder + "/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return {.bytes = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
          .threads = EntriesOf(folder + "/task"),
          .open_files = EntriesOf(folder + "/fd")};
}

// Takes samples of a process over a run. The first quarter of them is the warm-up; a figure has grown if its
// mean over the last quarter is more than that over the second, and its allowance.
class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t process) : process_(process) {}

  // Returns what it is now.
  const ProcessFigures& Sample() { return samples_.emplace_back(FiguresOf(process_)); }

  // The figures that have grown, in words; empty if none has. REQUIRES: at least 4 samples.
  std::string Growth(bool is_memory_judged) const;

 private:
  const pid_t process_;
  std::vector<ProcessFigures> samples_;
};

std::string ProcessWatch::Growth(bool is_memory_judged) const {
  const std::size_t quarter = samples_.size() / 4;
  std::string growth;
  const auto judge = [&](const char* name, std::size_t ProcessFigures::*figure, const Allowance& allowance) {
    const double before = MeanOf(samples_, quarter, 2 * quarter, figure);
    const double last = MeanOf(samples_, samples_.size() - quarter, samples_.size(), figure);
    if (last > before * (1.0 + allowance.share) + static_cast<double>(allowance.amount)) {
      absl::StrAppend(&growth, name, " grew from ", before, " to ", last, "\n");
    }
  };
  if (is_memory_judged) {
    judge("memory", &ProcessFigures::bytes, kBytesAllowance);
  }
  judge("threads", &ProcessFigures::threads, kThreadsAllowance);
  judge("open files", &ProcessFigures::open_files, kOpenFilesAllowance);
  return growth;
}

class Soak {
 public:
  Soak(const testing::ServerProcess& server, int side, std::uint64_t seed)
      : watch_(server.pid()),
        client_(server.NewClient()),
        channel_(server.NewChannel()),
        rude_clients_(server.port(), tally_),
        side_(side),
        seed_(seed) {}

  // True if nothing went wrong.
  bool Run(std::chrono::duration<double> length, bool is_memory_judged);

 private:
  using Actor = void (Soak::*)(RandomRequests&);

  void Act(Actor actor, std::uint64_t seed);
  void Edit(RandomRequests& requests);
  void StreamEdits(RandomRequests& requests);
  void Query(RandomRequests& requests);
  void WatchMap(RandomRequests& requests);
  void WatchPath(RandomRequests& requests);
  void Recreate(RandomRequests& requests);
  void List(RandomRequests& requests);
  void ComeAndGo(RandomRequests& requests) { rude_clients_.ComeAndGo(requests); }
  void Cancel(RandomRequests& requests) { rude_clients_.Cancel(requests); }
  void LetExpire(RandomRequests& requests) { rude_clients_.LetExpire(requests); }

  ProcessWatch watch_;
  SoakTally tally_;
  const std::unique_ptr<client::Client> client_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::MapService::Stub> maps_ = v1::MapService::NewStub(channel_);
  const std::unique_ptr<v1::PathService::Stub> paths_ = v1::PathService::NewStub(channel_);
  RudeClients rude_clients_;
  const int side_;
  const std::uint64_t seed_;
  std::atomic<bool> stop_ = false;
};

void Soak::Edit(RandomRequests& requests) {
  tally_.Note("UpdateMap", client_->UpdateMap(requests.UpdateMap(requests.MapId())).status());
}

void Soak::StreamEdits(RandomRequests& requests) {
  const auto stream = client_->StreamUpdates();
  const int batches = requests.random().Between(0, 200);
  std::thread writer([&] {
    for (int i = 0; i < batches && stream->Send(requests.UpdateMap(requests.MapId())); ++i) {
    }
    stream->EndSending();
  });
  v1::StreamUpdatesResponse response;
  std::uint64_t answered = 0;
  while (stream->Receive(response)) {
    if (response.index() != answered++) {
      tally_.Fault("an update was answered out of order");
    }
  }
  writer.join();
  tally_.CountMessages(answered);
  tally_.Note("StreamUpdates", stream->Finish());
}

void Soak::Query(RandomRequests& requests) {
  tally_.Note("FindPath", client_->FindPath(requests.FindPath(requests.MapId())).status());
  if (requests.random().Chance(0.1)) {
    tally_.Note("ValidatePaths", client_->ValidatePaths(requests.ValidatePaths(requests.MapId())).status());
  }
}

void Soak::WatchMap(RandomRequests& requests) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::milliseconds(requests.random().Between(1, 3000)));
  v1::WatchMapRequest request;
  request.set_map(requests.MapId());
  request.set_with_edits(requests.random().Chance(0.5));
  const auto reader = maps_->WatchMap(&context, request);
  v1::WatchMapResponse response;
  std::uint64_t last = 0;
  while (reader->Read(&response)) {
    tally_.CountMessages(1);
    const bool follows = !response.has_commit() || response.commit().version().revision() == last + 1;
    last = response.has_watching() ? response.watching().version().revision()
           : response.has_commit() ? response.commit().version().revision()
                                   : response.resynchronize().version().revision();
    if (!follows) {
      tally_.Fault(absl::StrCat("a watcher missed a revision before ", last));
    }
  }
  tally_.Note("WatchMap", reader->Finish());
}

void Soak::WatchPath(RandomRequests& requests) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::milliseconds(requests.random().Between(1, 3000)));
  v1::WatchPathRequest request;
  *request.mutable_query() = requests.FindPath(requests.MapId());
  const auto reader = paths_->WatchPath(&context, request);
  v1::WatchPathResponse response;
  while (reader->Read(&response)) {
    tally_.CountMessages(1);
  }
  tally_.Note("WatchPath", reader->Finish());
}

void Soak::Recreate(RandomRequests& requests) {
  v1::DeleteMapRequest request;
  request.set_map(requests.MapId());
  tally_.Note("DeleteMap", client_->DeleteMap(request).status());
  tally_.Note("CreateMap", client_->CreateMap(requests.CreateMap(request.map())).status());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

void Soak::List(RandomRequests& requests) {
  v1::ListObstaclesRequest request;
  request.set_map(requests.MapId());
  tally_.Note("ListObstacles", client_->ListObstacles(request).status());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void Soak::Act(Actor actor, std::uint64_t seed) {
  RandomRequests requests(seed, side_);
  while (!stop_) {
    (this->*actor)(requests);
  }
}

bool Soak::Run(std::chrono::duration<double> length, bool is_memory_judged) {
  const auto end = std::chrono::steady_clock::now() + length;
  std::vector<Actor> actors = {&Soak::Recreate, &Soak::Edit,      &Soak::Edit,      &Soak::StreamEdits,
                               &Soak::Query,    &Soak::Query,     &Soak::List,      &Soak::Cancel,
                               &Soak::Cancel,   &Soak::LetExpire, &Soak::ComeAndGo, &Soak::ComeAndGo};
  for (int i = 0; i < kWatchers; ++i) {
    actors.push_back(i % 2 == 0 ? &Soak::WatchMap : &Soak::WatchPath);
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    threads.emplace_back([this, actor = actors[i], seed = seed_ * 1000 + i] { Act(actor, seed); });
  }
  constexpr int kSamples = 60;
  for (int sample = 1; sample <= kSamples; ++sample) {
    std::this_thread::sleep_until(end - length * (kSamples - sample) / kSamples);
    const ProcessFigures& now = watch_.Sample();
    std::cout
        << absl::StreamFormat(
               "%3d / %d: %d MiB, %d threads, %d open files; %d calls, %d messages of streams, %d faults\n",
               sample, kSamples, now.bytes >> 20, now.threads, now.open_files, tally_.calls(),
               tally_.messages(), tally_.faults())
        << std::flush;
  }
  stop_ = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  const std::string growth = watch_.Growth(is_memory_judged);
  std::cerr << growth;
  return growth.empty() && tally_.faults() == 0;
}

}  // namespace
}  // namespace waystar::stress

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::testing::ServerProcess server({"--workers=2", "--log_level=error"});
  bool passed = false;
  {
    waystar::stress::Soak soak(server, absl::GetFlag(FLAGS_side), absl::GetFlag(FLAGS_seed));
    passed = soak.Run(std::chrono::duration<double>(absl::GetFlag(FLAGS_minutes) * 60),
                      absl::GetFlag(FLAGS_judge_memory));
  }
  server.Signal(SIGTERM);
  const int ended = server.Wait();
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
    std::cerr << "the server did not end well: " << ended << "\n";
    passed = false;
  }
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
