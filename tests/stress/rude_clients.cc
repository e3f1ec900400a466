#include "tests/stress/rude_clients.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "tests/service/bounded_context.h"

namespace waystar::stress {
namespace {

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

}  // namespace

void SoakTally::Note(const char* call, const absl::Status& status) {
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

void SoakTally::Fault(const std::string& what) {
  constexpr int kMostWords = 20;
  if (faults_.fetch_add(1) < kMostWords) {
    std::cerr << absl::StrCat(what, "\n");
  }
}

RudeClients::Stubs::Stubs(const std::shared_ptr<grpc::Channel>& channel)
    : maps(v1::MapService::NewStub(channel)),
      paths(v1::PathService::NewStub(channel)),
      pictures(v1::PictureService::NewStub(channel)) {}

RudeClients::RudeClients(int port, SoakTally& tally) : port_(port), tally_(tally), shared_(NewChannel()) {}

std::shared_ptr<grpc::Channel> RudeClients::NewChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port_), grpc::InsecureChannelCredentials(),
                                   arguments);
}

void RudeClients::ComeAndGo(RandomRequests& requests) {
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

void RudeClients::Cancel(RandomRequests& requests) {
  testing::BoundedContext context;
  const std::chrono::microseconds patience(requests.random().Between(0, 3000));
  std::thread canceller([&] {
    std::this_thread::sleep_for(patience);
    context.TryCancel();
  });
  CallAny(shared_, context, requests);
  canceller.join();
}

void RudeClients::LetExpire(RandomRequests& requests) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::microseconds(requests.random().Between(-100, 3000)));
  CallAny(shared_, context, requests);
}

void RudeClients::CallAny(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests) {
  const std::string map = requests.MapId();
  const int most = requests.random().Between(0, 20);
  switch (requests.random().Between(0, 7)) {
    case 0: {
      v1::FindPathResponse response;
      tally_.Note("FindPath", stubs.paths->FindPath(&context, requests.FindPath(map), &response));
      break;
    }
    case 1:
      Update(stubs, context, requests);
      break;
    case 2: {
      v1::WatchMapRequest request;
      request.set_map(map);
      request.set_with_edits(true);
      ReadSome<v1::WatchMapResponse>("WatchMap", stubs.maps->WatchMap(&context, request), context, most,
                                     tally_);
      break;
    }
    case 3: {
      v1::WatchPathRequest request;
      *request.mutable_query() = requests.FindPath(map);
      ReadSome<v1::WatchPathResponse>("WatchPath", stubs.paths->WatchPath(&context, request), context, most,
                                      tally_);
      break;
    }
    case 4: {
      v1::TraceSearchRequest request;
      *request.mutable_query() = requests.FindPath(map);
      ReadSome<v1::TraceSearchResponse>("TraceSearch", stubs.pictures->TraceSearch(&context, request),
                                        context, most, tally_);
      break;
    }
    case 5: {
      v1::ExportMapRequest request;
      request.set_map(map);
      ReadSome<v1::ExportMapResponse>("ExportMap", stubs.maps->ExportMap(&context, request), context,
                                      most / 10, tally_);
      break;
    }
    case 6:
      StreamQueries(stubs, context, requests);
      break;
    default:
      StreamUpdates(stubs, context, requests);
      break;
  }
}

void RudeClients::Update(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests) {
  v1::UpdateMapResponse response;
  tally_.Note("UpdateMap", stubs.maps->UpdateMap(&context, requests.UpdateMap(requests.MapId()), &response));
}

void RudeClients::StreamQueries(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests) {
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

void RudeClients::StreamUpdates(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests) {
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
void RudeClients::BreakConnection(RandomRequests& requests) const {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    constexpr absl::string_view kBytes(
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0\0\1\0\1\4\0\0\0\1half", 46);
    const auto sent = static_cast<std::size_t>(requests.random().Between(0, static_cast<int>(kBytes.size())));
    (void)::send(connection, kBytes.data(), sent, MSG_NOSIGNAL);
    if (requests.random().Chance(0.5)) {
      const linger at_once = {.l_onoff = 1, .l_linger = 0};
      ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
  }
  ::close(connection);
}

}  // namespace waystar::stress
