// Random edits, queries, watches, deletes and re-creates over real sockets, by clients that wait for their
// answers and by others that go away, cancel or let deadlines pass; and what all of that does to the server's
// process. Ends with 1 if a call fails in a way that it must not, or if memory, threads or open files grow
// after the warm-up.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
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
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "client/client.h"
#include "client/errors.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "tests/e2e/server_process.h"
#include "tests/service/about_map.h"
#include "tests/stress/random_requests.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"

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
  std::string Growth(bool is_memory_judged) const {
    const std::size_t quarter = samples_.size() / 4;
    std::string growth;
    const auto judge = [&](const char* name, std::size_t ProcessFigures::*figure,
                           const Allowance& allowance) {
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

 private:
  const pid_t process_;
  std::vector<ProcessFigures> samples_;
};

// What the clients of a soak count.
//
// Thread safety: any.
class SoakTally {
 public:
  // Counts a call, and complains if it ended in a way that a client's fault, or another client, cannot
  // explain.
  void Note(const char* call, const absl::Status& status) {
    ++calls_;
    switch (status.code()) {
      case absl::StatusCode::kUnknown:
      case absl::StatusCode::kUnimplemented:
      case absl::StatusCode::kInternal:
      case absl::StatusCode::kUnavailable:
      case absl::StatusCode::kDataLoss:
      case absl::StatusCode::kPermissionDenied:
      case absl::StatusCode::kUnauthenticated:
        Fault(absl::StrCat(call, ": ", status.ToString()));
        return;
      default:
        return;
    }
  }

  void Note(const char* call, const grpc::Status& status) { Note(call, client::FromGrpc(status)); }
  void CountMessages(std::uint64_t messages) { messages_ += messages; }
  // Complains.
  void Fault(const std::string& what) {
    constexpr int kMostWords = 20;
    if (faults_.fetch_add(1) < kMostWords) {
      std::cerr << absl::StrCat(what, "\n");
    }
  }

  std::uint64_t calls() const { return calls_; }
  std::uint64_t messages() const { return messages_; }
  int faults() const { return faults_; }

 private:
  std::atomic<std::uint64_t> calls_ = 0;
  // Of streams.
  std::atomic<std::uint64_t> messages_ = 0;
  std::atomic<int> faults_ = 0;
};

// Reads at most so many messages of a call that may be endless, cancels it, and notes how it ended.
template <typename Response, typename Reader>
void ReadSome(const char* name, const Reader& reader, grpc::ClientContext& context, int most,
              SoakTally& tally) {
  Response response;
  int messages = 0;
  while (messages < most && reader->Read(&response)) {
    ++messages;
  }
  context.TryCancel();
  while (reader->Read(&response)) {
    ++messages;
  }
  tally.CountMessages(static_cast<std::uint64_t>(messages));
  tally.Note(name, reader->Finish());
}

// Each method is one visit to the server.
//
// Thread safety: any.
class RudeClients {
 public:
  RudeClients(int port, SoakTally& tally) : port_(port), tally_(tally), shared_(NewChannel()) {}

  // A connection of its own for a call or two; now and then one that breaks in the middle of a frame.
  void ComeAndGo(RandomRequests& requests) {
    if (requests.random().Chance(0.3)) {
      BreakConnection(requests);
      return;
    }
    const Stubs own(NewChannel());
    for (int calls = requests.random().Between(0, 2); calls > 0; --calls) {
      grpc::ClientContext context;
      // What a stream waits for may never come.
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
      CallAny(own, context, requests);
    }
  }

  // A call of any kind that is cancelled before its end.
  void Cancel(RandomRequests& requests) {
    BoundedContext context;
    const std::chrono::microseconds patience(requests.random().Between(0, 3000));
    std::thread canceller([&] {
      std::this_thread::sleep_for(patience);
      context.TryCancel();
    });
    CallAny(shared_, context, requests);
    canceller.join();
  }

  // A call of any kind with a deadline that is too near.
  void LetExpire(RandomRequests& requests) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::microseconds(requests.random().Between(-100, 3000)));
    CallAny(shared_, context, requests);
  }

 private:
  struct Stubs {
    explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
        : maps(v1::MapService::NewStub(channel)),
          paths(v1::PathService::NewStub(channel)),
          pictures(v1::PictureService::NewStub(channel)) {}

    std::unique_ptr<v1::MapService::Stub> maps;
    std::unique_ptr<v1::PathService::Stub> paths;
    std::unique_ptr<v1::PictureService::Stub> pictures;
  };

  std::shared_ptr<grpc::Channel> NewChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port_), grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  // Makes a call of any kind. Of streams it reads and writes some messages and cancels them.
  void CallAny(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests) {
    const std::string map = requests.MapId();
    const int most = requests.random().Between(0, 20);
    switch (requests.random().Between(0, 6)) {
      case 0: {
        v1::FindPathResponse response;
        tally_.Note("FindPath", stubs.paths->FindPath(&context, requests.FindPath(map), &response));
        break;
      }
      case 1:
        Update(stubs, context, requests);
        break;
      case 2: {
        auto request = About<v1::WatchMapRequest>(map);
        request.set_with_edits(true);
        ReadSome<v1::WatchMapResponse>("WatchMap", stubs.maps->WatchMap(&context, request), context, most,
                                       tally_);
        break;
      }
      case 3: {
        v1::TraceSearchRequest request;
        *request.mutable_query() = requests.FindPath(map);
        ReadSome<v1::TraceSearchResponse>("TraceSearch", stubs.pictures->TraceSearch(&context, request),
                                          context, most, tally_);
        break;
      }
      case 4: {
        auto request = About<v1::ExportMapRequest>(map);
        ReadSome<v1::ExportMapResponse>("ExportMap", stubs.maps->ExportMap(&context, request), context,
                                        most / 10, tally_);
        break;
      }
      case 5:
        StreamQueries(stubs, context, requests);
        break;
      default:
        StreamUpdates(stubs, context, requests);
        break;
    }
  }

  void Update(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests) {
    v1::UpdateMapResponse response;
    tally_.Note("UpdateMap",
                stubs.maps->UpdateMap(&context, requests.UpdateMap(requests.MapId()), &response));
  }

  void StreamQueries(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests) {
    const auto stream = stubs.paths->StreamFindPath(&context);
    const int messages = requests.random().Between(0, 20);
    bool is_open = true;
    for (int i = 0; i < messages && is_open; ++i) {
      v1::StreamFindPathRequest request;
      v1::StreamedQuery& query = *request.add_queries();
      query.set_id(static_cast<std::uint64_t>(i));
      *query.mutable_query() = requests.FindPath(requests.MapId());
      is_open = stream->Write(request);
    }
    ReadSome<v1::StreamFindPathResponse>("StreamFindPath", stream, context, messages / 2, tally_);
  }

  void StreamUpdates(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests) {
    const auto stream = stubs.maps->StreamUpdates(&context);
    const int messages = requests.random().Between(0, 20);
    bool is_open = true;
    for (int i = 0; i < messages && is_open; ++i) {
      v1::StreamUpdatesRequest request;
      *request.mutable_update() = requests.UpdateMap(requests.MapId());
      is_open = stream->Write(request);
    }
    ReadSome<v1::StreamUpdatesResponse>("StreamUpdates", stream, context, messages / 2, tally_);
  }

  // The beginning of an HTTP/2 connection with a frame that is longer than what follows, and then nothing, a
  // farewell or a reset.
  void BreakConnection(RandomRequests& requests) const {
    const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
      constexpr absl::string_view kBytes(
          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0\0\1\0\1\4\0\0\0\1half", 46);
      const auto sent =
          static_cast<std::size_t>(requests.random().Between(0, static_cast<int>(kBytes.size())));
      (void)::send(connection, kBytes.data(), sent, MSG_NOSIGNAL);
      if (requests.random().Chance(0.5)) {
        const linger at_once = {.l_onoff = 1, .l_linger = 0};
        ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      }
    }
    ::close(connection);
  }

  const int port_;
  SoakTally& tally_;
  const Stubs shared_;
};

class Soak {
 public:
  Soak(const ServerProcess& server, int side, std::uint64_t seed)
      : watch_(server.pid()),
        client_(server.NewClient()),
        channel_(server.NewChannel()),
        rude_clients_(server.port(), tally_),
        side_(side),
        seed_(seed) {}

  // True if nothing went wrong.
  bool Run(std::chrono::duration<double> length, bool is_memory_judged) {
    const auto end = std::chrono::steady_clock::now() + length;
    std::vector<Actor> actors = {&Soak::Recreate, &Soak::Edit,      &Soak::Edit,      &Soak::StreamEdits,
                                 &Soak::Query,    &Soak::Query,     &Soak::List,      &Soak::Cancel,
                                 &Soak::Cancel,   &Soak::LetExpire, &Soak::ComeAndGo, &Soak::ComeAndGo};
    for (int i = 0; i < kWatchers; ++i) {
      actors.push_back(i % 2 == 0 ? &Soak::WatchMap : &Soak::FollowAgents);
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

 private:
  using Actor = void (Soak::*)(RandomRequests&);

  void Act(Actor actor, std::uint64_t seed) {
    RandomRequests requests(seed, side_);
    while (!stop_) {
      (this->*actor)(requests);
    }
  }

  void Edit(RandomRequests& requests) {
    tally_.Note("UpdateMap", client_->UpdateMap(requests.UpdateMap(requests.MapId())).status());
  }

  void StreamEdits(RandomRequests& requests) {
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

  void Query(RandomRequests& requests) {
    tally_.Note("FindPath", client_->FindPath(requests.FindPath(requests.MapId())).status());
    if (requests.random().Chance(0.1)) {
      tally_.Note("ValidatePaths", client_->ValidatePaths(requests.ValidatePaths(requests.MapId())).status());
    }
  }

  void WatchMap(RandomRequests& requests) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(requests.random().Between(1, 3000)));
    auto request = About<v1::WatchMapRequest>(requests.MapId());
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

  void FollowAgents(RandomRequests& requests) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(requests.random().Between(1, 3000)));
    const std::string map = requests.MapId();
    const auto stream = paths_->FollowAgents(&context);
    std::uint64_t number = 0;
    const auto change = [&](v1::FollowAgentsRequest& message) -> v1::AgentChange& {
      v1::AgentChange& added = *message.add_changes();
      added.set_agent(static_cast<std::uint64_t>(requests.random().Between(1, 30)));
      added.set_number(++number);
      return added;
    };
    v1::FollowAgentsRequest puts;
    for (int i = 0; i < 30; ++i) {
      *change(puts).mutable_put() = requests.FindPath(map);
    }
    bool is_open = stream->Write(puts);
    std::map<std::uint64_t, std::uint64_t> progress;
    v1::FollowAgentsResponse response;
    while (is_open && stream->Read(&response)) {
      tally_.CountMessages(1);
      for (const v1::MapProgress& of_map : response.progress()) {
        std::uint64_t& last = progress[of_map.version().epoch()];
        if (of_map.version().revision() < last || of_map.walkable_revision() < of_map.version().revision()) {
          tally_.Fault(absl::StrCat("the progress of agents went back from ", last));
        }
        last = of_map.version().revision();
      }
      v1::FollowAgentsRequest changes;
      *change(changes).mutable_at() = requests.FindPath(map).start();
      *change(changes).mutable_goal() = requests.FindPath(map).start();
      *change(changes).mutable_put() = requests.FindPath(map);
      change(changes).mutable_remove();
      is_open = stream->Write(changes);
    }
    tally_.Note("FollowAgents", stream->Finish());
  }

  void Recreate(RandomRequests& requests) {
    auto request = About<v1::DeleteMapRequest>(requests.MapId());
    tally_.Note("DeleteMap", client_->DeleteMap(request).status());
    tally_.Note("CreateMap", client_->CreateMap(requests.CreateMap(request.map())).status());
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }

  void List(RandomRequests& requests) {
    auto request = About<v1::ListObstaclesRequest>(requests.MapId());
    tally_.Note("ListObstacles", client_->ListObstacles(request).status());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

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

}  // namespace
}  // namespace waystar::stress

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::ServerProcess server({"--workers=2", "--log_level=error"});
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
