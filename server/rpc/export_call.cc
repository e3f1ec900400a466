#include "server/rpc/export_call.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/format/map_format.h"
#include "server/rpc/convert.h"
#include "server/rpc/request_parser.h"

namespace waystar::rpc {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* ExportCall::Start(const core::MapStore& store, Executor& executor,
                                                              TransferSlots& slots, absl::Duration timeout,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request) {
  auto* call = new ExportCall(store, executor, slots, context);
  absl::Status status = ParseRequest(*request, call->request_);
  if (status.ok()) {
    status = call->Begin(timeout);
  }
  if (status.ok()) {
    call->HandOver();
  } else {
    call->FinishOnce(status);
  }
  return call;
}

void ExportCall::Run(int /*worker*/) {
  v1::ExportMapResponse first;
  if (const absl::Status status = WriteFile(*first.mutable_header()); !status.ok()) {
    FinishFromJob(status);
  } else {
    Write(first);
  }
  Unref();
}

absl::Status ExportCall::WriteFile(v1::ExportMapHeader& header) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::MapFormat format, ToWriteFormat(request_.format()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store_.Pin(request_.map()));
  WAYSTAR_ASSIGN_OR_RETURN(file_, core::FormatMap(format, snapshot->grid));
  FillMapInfo(*snapshot, *header.mutable_info());
  header.set_format(FromFormat(format));
  header.set_size(static_cast<std::int64_t>(file_.size()));
  return absl::OkStatus();
}

void ExportCall::OnWriteDone(bool ok) {
  if (!ok) {
    FinishFromJob(
        MakeError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, "", "the export was cancelled"));
    return;
  }
  if (written_ == file_.size()) {
    FinishFromJob(absl::OkStatus());
    return;
  }
  const std::size_t count = std::min(kChunkBytes, file_.size() - written_);
  v1::ExportMapResponse message;
  message.set_chunk(file_.substr(written_, count));
  written_ += count;
  Write(message);
}

void ExportCall::Write(const v1::ExportMapResponse& message) {
  bool owned = false;
  message_.Clear();
  const grpc::Status serialized =
      grpc::GenericSerialize<grpc::ProtoBufferWriter, v1::ExportMapResponse>(message, &message_, &owned);
  if (!serialized.ok()) {
    FinishFromJob(absl::InternalError(serialized.error_message()));
    return;
  }
  StartWrite(&message_);
}

// A status would have to wait behind the chunk that the client does not read.
void ExportCall::OnExpired() { context_->TryCancel(); }

}  // namespace waystar::rpc
