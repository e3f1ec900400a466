#include "server/service/handlers/maps/transfer_calls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/codec/map_image.h"
#include "server/core/edit/edit_work.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/call_context.h"
#include "server/service/call/request_parser.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {

absl::Status ImportCall::Admit() {
  // A program may use a new connection for each import.
  flow_ = {.client = HolderOf(caller_.Get(), rpc_)};
  WAYSTAR_RETURN_IF_ERROR(caller_.Require(&CheckStreamAccess<v1::ImportMapRequest>));
  SetTimes(limits_.times);
  return absl::OkStatus();
}

void ImportCall::Advance() {
  if (!has_job() && !is_changing_ && !awaits_slot()) {
    Read();
  }
}

void ImportCall::OnReadDone(bool ok) {
  const bool is_first = !header_.has_value();
  const absl::Status status = ok ? TakeMessage() : CheckComplete();
  {
    const Change change(*this);
    if (!status.ok()) {
      SetEnd(status);
    }
    if (!EndRead(ok)) {
      return;
    }
    if (ok) {
      if (const absl::Status slot = is_first ? AwaitSlot(server_.transfers) : absl::OkStatus(); !slot.ok()) {
        SetEnd(slot);
      }
      return;
    }
    BeginJob();
  }
  // A complete file is never rejected for lack of a worker.
  SubmitOwedJob(Lane::kImports, flow_);
}

void ImportCall::OnTimeout() {
  const std::string limit = absl::FormatDuration(limits_.times.timeout);
  const Change change(*this);
  SetEnd(awaits_slot()
             ? Refusal(ErrorReason::kTransfersBusy, absl::Seconds(1),
                       absl::StrCat("the import waited for others for ", limit, ", as long as it may"))
             : MakeError(ErrorReason::kTransferTimeout, "",
                         absl::StrCat("the import took longer than ", limit, ", the server's limit")));
}

void ImportCall::OnStall() {
  End(MakeError(ErrorReason::kTransferTimeout, "",
                absl::StrCat("the client sent nothing for ", absl::FormatDuration(limits_.times.stall),
                             ", the server's limit")));
}

void ImportCall::RunJob(int worker) {
  absl::StatusOr<MadeMap> made =
      RunWithinMemory(server_.executor.bench(worker), [this] { return MakeMap(); });
  {
    MutexLock lock(mutex_);
    if (!made.ok()) {
      ReplaceEnd(made.status());
      return;
    }
    is_changing_ = true;
  }
  // A complete file is never rejected because the queue is full; the slots bound the number of files.
  changes_.SubmitOwed([this, made = *std::move(made)]() mutable { return CreateMap(std::move(made)); },
                      [this](const absl::Status& status) {
                        const Change change(*this);
                        ReplaceEnd(status);
                        is_changing_ = false;
                      });
}

absl::Status ImportCall::TakeMessage() {
  CallMemory::Share memory(server_.memory, rpc_);
  v1::ImportMapRequest request;
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(message(), request, memory));
  switch (request.part_case()) {
    case v1::ImportMapRequest::kHeader:
      return TakeHeader(request);
    case v1::ImportMapRequest::kChunk:
      return TakeChunk(request.chunk());
    case v1::ImportMapRequest::PART_NOT_SET:
      break;
  }
  return MakeError(ErrorReason::kBadStream, "part", "a message of an import holds a header or a chunk");
}

absl::Status ImportCall::TakeHeader(const v1::ImportMapRequest& request) {
  const v1::ImportMapHeader& header = request.header();
  if (header_) {
    return MakeError(ErrorReason::kBadStream, "header", "an import has one header, its first message");
  }
  v1::ImportMapRequest map;
  map.mutable_header()->set_map(header.map());
  WAYSTAR_RETURN_IF_ERROR(caller_.Require([map](const Caller& caller) { return CheckAccess(caller, map); }));
  // Returns detectable errors before the client sends the file.
  if (absl::Status status =
          header.replace() ? store_.CheckCanReplace(header.map()) : store_.CheckCanCreate(header.map());
      !status.ok()) {
    return ErrorFieldOf(status).empty() ? status : WithFieldPrefix(status, "header.");
  }
  if (!header.has_size()) {
    return MakeError(ErrorReason::kMissingField, "header.size", "the file's size is required");
  }
  if (header.size() < 0) {
    return MakeError(ErrorReason::kBadValue, "header.size",
                     absl::StrCat("a file's size must be at least 0, got ", header.size()));
  }
  if (header.size() > limits_.max_import_bytes) {
    return MakeError(
        ErrorReason::kImportTooLarge, "header.size",
        absl::StrCat("an import may be at most ", limits_.max_import_bytes, " bytes, got ", header.size()));
  }
  // The file, and the map, which mostly takes less than twice as much. For text files, geometry takes up to
  // five times the file, plus kVoxelBytes for voxelization.
  constexpr std::size_t kVoxelBytes = std::size_t{16} << 20;
  const auto size = static_cast<std::size_t>(header.size());
  // The store makes room, if it can, when the map is ready.
  if (!store_.memory().Reserve(header.import_options().has_build() ? 8 * size + kVoxelBytes : 3 * size,
                               memory_) &&
      !store_.CanMakeRoom()) {
    return core::MapsMemoryFull(store_.memory(), "header.size");
  }
  header_ = header;
  return absl::OkStatus();
}

absl::Status ImportCall::TakeChunk(const std::string& chunk) {
  if (!header_) {
    return MakeError(ErrorReason::kBadStream, "header", "an import's first message is its header");
  }
  if (static_cast<std::int64_t>(bytes_.size() + chunk.size()) > header_->size()) {
    return MakeError(ErrorReason::kTruncated, "header.size",
                     absl::StrCat("more bytes than the ", header_->size(), " the header promised"));
  }
  bytes_.reserve(static_cast<std::size_t>(header_->size()));
  bytes_ += chunk;
  return absl::OkStatus();
}

absl::Status ImportCall::CheckComplete() const {
  if (!header_) {
    return MakeError(ErrorReason::kBadStream, "header", "the import ended before its header");
  }
  if (static_cast<std::int64_t>(bytes_.size()) != header_->size()) {
    return MakeError(ErrorReason::kTruncated, "header.size",
                     absl::StrCat("the import ended after ", bytes_.size(), " bytes; its header promised ",
                                  header_->size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<MadeMap> ImportCall::MakeMap() {
  const WhileWanted stop(*this);
  WAYSTAR_ASSIGN_OR_RETURN(MadeMap made, ParseMapFile({.format = header_->format(),
                                                       .bytes = bytes_,
                                                       .grid = header_->grid(),
                                                       .import_options = header_->import_options(),
                                                       .prefix = "header.",
                                                       .bytes_field = "chunk"},
                                                      limits_.max_map_side, &stop));
  if (header_->has_expected_digest()) {
    WAYSTAR_RETURN_IF_ERROR(CheckDigest(made.map, header_->expected_digest(), "header.expected_digest"));
  }
  WAYSTAR_RETURN_IF_ERROR(Prepare(store_, made.map, &stop));
  return made;
}

absl::Status ImportCall::CreateMap(MadeMap made) {
  WAYSTAR_RETURN_IF_ERROR(WhileWanted(*this).Check());
  // Checks the caller against the current tokens.
  WAYSTAR_RETURN_IF_ERROR(caller_.Renew());
  // The store reserves the actual memory of the map.
  memory_ = {};
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot,
                           CreateInStore(store_, header_->map(), std::move(made.map), "header.",
                                         header_->replace() ? IfExists::kReplace : IfExists::kRefuse));
  v1::ImportMapResponse response;
  FillMapInfo(store_, *snapshot, *response.mutable_info());
  FillNotes(made.notes, *response.mutable_notes());
  response_ = Serialize(response);
  return absl::OkStatus();
}

namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

}  // namespace

absl::StatusOr<std::string> WriteMapFile(const core::MapSnapshot& snapshot, core::MapFormat format,
                                         const StopCheck* stop) {
  if (format != core::MapFormat::kWaystar) {
    WAYSTAR_ASSIGN_OR_RETURN(const core::GridMap* const grid, core::GridOf(snapshot));
    return core::FormatMap(format, *grid, stop);
  }
  std::string image = core::EncodeImage(snapshot.map, stop);
  WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
  return image;
}

absl::Status ExportCall::Prepare(int /*worker*/) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::MapFormat format, ToWriteFormat(request().format()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store_.Pin(request().map()));
  const WhileWanted stop(*this);
  WAYSTAR_ASSIGN_OR_RETURN(file_, WriteMapFile(*snapshot, format, &stop));
  v1::ExportMapHeader& header = header_.emplace();
  FillMapInfo(store_, *snapshot, *header.mutable_info());
  header.set_format(FromFormat(format));
  header.set_size(static_cast<std::int64_t>(file_.size()));
  return absl::OkStatus();
}

bool ExportCall::FillNext(v1::ExportMapResponse& message) {
  if (header_.has_value()) {
    *message.mutable_header() = *std::exchange(header_, std::nullopt);
    return true;
  }
  const std::size_t count = std::min(kChunkBytes, file_.size() - sent_);
  message.set_chunk(file_.substr(sent_, count));
  sent_ += count;
  return count > 0;
}

}  // namespace waystar::rpc
