#include "client/client.h"

#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"

namespace waystar::client {
namespace {

constexpr size_t kChunkBytes = 64 << 10;
// The maps of which the client remembers what it has changed.
constexpr size_t kOwnWrites = 1024;

// The next bytes to send, at the most kChunkBytes; none at the end.
using ChunkSource = std::function<absl::StatusOr<std::string>()>;

absl::StatusOr<v1::ImportMapResponse> Import(const Connection& connection,
                                             const std::unique_ptr<v1::MapService::StubInterface>& maps,
                                             absl::Duration timeout, v1::ImportMapHeader header,
                                             const ChunkSource& next_chunk) {
  if (absl::Status problem = connection.StatusForChanges(); !problem.ok()) {
    return problem;
  }
  grpc::ClientContext context;
  connection.Prepare(context, timeout);
  v1::ImportMapResponse response;
  const auto stream = maps->ImportMap(&context, &response);

  v1::ImportMapRequest message;
  *message.mutable_header() = std::move(header);
  // A write fails once the server has refused the import; Finish tells why.
  while (stream->Write(message)) {
    auto chunk = next_chunk();
    if (!chunk.ok()) {
      context.TryCancel();
      stream->Finish().IgnoreError();
      return chunk.status();
    }
    if (chunk->empty()) {
      break;
    }
    message.set_chunk(*std::move(chunk));
  }
  stream->WritesDone();
  const grpc::Status end = stream->Finish();
  if (!end.ok()) {
    return FromGrpc(end);
  }
  return response;
}

std::optional<int64_t> BytesLeft(std::istream& file) {
  const auto position = file.tellg();
  file.seekg(0, std::ios::end);
  const auto end = file.tellg();
  file.seekg(position);
  if (!file) {
    return std::nullopt;
  }
  return end - position;
}

}  // namespace

Client::Client(const Options& options)
    : options_(options), connection_(options), own_writes_(options.reads_own_writes ? kOwnWrites : 0) {
  if (status().ok()) {
    paths_ = v1::PathService::NewStub(connection_.channel());
    maps_ = v1::MapService::NewStub(connection_.channel());
    pictures_ = v1::PictureService::NewStub(connection_.channel());
    server_ = v1::ServerService::NewStub(connection_.channel());
    health_ = grpc::health::v1::Health::NewStub(connection_.health_channel());
  }
}

absl::StatusOr<v1::TraceSearchResult> Client::TraceSearch(
    const v1::TraceSearchRequest& request, absl::FunctionRef<void(const v1::SearchEvent&)> on_event) const {
  if (!status().ok()) {
    return status();
  }
  grpc::ClientContext context;
  connection_.Prepare(context, options_.transfer_timeout);
  const auto stream = pictures_->TraceSearch(&context, request);

  std::optional<v1::TraceSearchResult> result;
  v1::TraceSearchResponse message;
  while (stream->Read(&message)) {
    for (const v1::SearchEvent& event : message.events()) {
      on_event(event);
    }
    if (message.has_result()) {
      result = std::move(*message.mutable_result());
    }
  }
  const grpc::Status end = stream->Finish();
  if (!end.ok()) {
    return FromGrpc(end);
  }
  if (!result) {
    return absl::DataLossError("the server ended the trace without a result");
  }
  return *std::move(result);
}

absl::StatusOr<v1::ImportMapResponse> Client::ImportMap(v1::ImportMapHeader header,
                                                        std::string_view bytes) const {
  header.set_size(static_cast<int64_t>(bytes.size()));
  const std::string map = header.map();
  return Noted(map, Import(connection_, maps_, options_.transfer_timeout, std::move(header), [&bytes] {
                 std::string chunk(bytes.substr(0, kChunkBytes));
                 bytes.remove_prefix(chunk.size());
                 return chunk;
               }));
}

absl::StatusOr<v1::ImportMapResponse> Client::ImportMap(v1::ImportMapHeader header, std::istream& file,
                                                        const TransferProgress& tell) const {
  const auto size = BytesLeft(file);
  if (!size) {
    return absl::DataLossError("cannot tell the length of the file");
  }
  header.set_size(*size);
  const std::string map = header.map();
  return Noted(
      map, Import(connection_, maps_, options_.transfer_timeout, std::move(header),
                  [&file, &tell, size = *size, sent = int64_t{0}]() mutable -> absl::StatusOr<std::string> {
                    std::string chunk(kChunkBytes, '\0');
                    file.read(chunk.data(), kChunkBytes);
                    if (file.bad()) {
                      return absl::DataLossError("cannot read the file to its end");
                    }
                    chunk.resize(static_cast<size_t>(file.gcount()));
                    sent += file.gcount();
                    if (tell) {
                      tell(sent, size);
                    }
                    return chunk;
                  }));
}

absl::StatusOr<ExportedMap> Client::ExportMap(const v1::ExportMapRequest& request,
                                              const TransferProgress& tell) const {
  // The map may be let go of between two calls.
  constexpr int kTries = 4;
  absl::StatusOr<ExportedMap> map = ExportMapOnce(request, tell);
  for (int i = 1; options_.retry && i < kTries && ReasonOf(map.status()) == "MAP_LOADING"; ++i) {
    // This waits until the map is in memory, as an export does not.
    v1::GetMapRequest load;
    load.set_map(request.map());
    if (const absl::Status loaded = GetMap(load).status(); !loaded.ok()) {
      return loaded;
    }
    map = ExportMapOnce(request, tell);
  }
  return map;
}

absl::StatusOr<ExportedMap> Client::ExportMapOnce(const v1::ExportMapRequest& request,
                                                  const TransferProgress& tell) const {
  if (!status().ok()) {
    return status();
  }
  grpc::ClientContext context;
  connection_.Prepare(context, options_.transfer_timeout);
  const auto stream = maps_->ExportMap(&context, request);

  ExportedMap result;
  v1::ExportMapResponse message;
  while (stream->Read(&message)) {
    if (message.has_header()) {
      result.header = std::move(*message.mutable_header());
    } else {
      result.bytes += message.chunk();
      if (tell) {
        tell(static_cast<int64_t>(result.bytes.size()), result.header.size());
      }
    }
  }
  const grpc::Status end = stream->Finish();
  if (!end.ok()) {
    return FromGrpc(end);
  }
  if (result.header.size() != static_cast<int64_t>(result.bytes.size())) {
    return absl::DataLossError(
        absl::StrCat("the server promised ", result.header.size(), " bytes and sent ", result.bytes.size()));
  }
  return result;
}

void OwnWrites::Note(const std::string& map, const v1::Version& version) {
  if (version.epoch() == 0) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = by_map_.find(map); found != by_map_.end()) {
    v1::Version& known = found->second->second;
    if (known.epoch() != version.epoch() || known.revision() < version.revision()) {
      known = version;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return;
  }
  if (most_maps_ == 0) {
    return;
  }
  if (entries_.size() == most_maps_) {
    by_map_.erase(entries_.back().first);
    entries_.pop_back();
  }
  entries_.emplace_front(map, version);
  by_map_.emplace(entries_.front().first, entries_.begin());
}

void OwnWrites::Forget(const std::string& map, std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  const auto found = by_map_.find(map);
  if (found != by_map_.end() && (epoch == 0 || found->second->second.epoch() == epoch)) {
    const auto entry = found->second;
    // It goes first, as its name is that of the entry.
    by_map_.erase(found);
    entries_.erase(entry);
  }
}

std::optional<v1::Version> OwnWrites::Of(const std::string& map) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_map_.find(map);
  return found == by_map_.end() ? std::nullopt : std::optional(found->second->second);
}

}  // namespace waystar::client
