// Reactors of MapService.ImportMap and ExportMap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/formats/text/text.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/sending_call.h"
#include "server/service/call/streaming_call.h"
#include "server/service/handlers/maps/change_queue.h"
#include "server/service/handlers/maps/map_creation.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

struct TransferLimits {
  std::int64_t max_import_bytes = 80LL << 20;
  int max_map_side = core::kMaxMapSide;
  TransferTimes times;
};

// Collects a file's chunks, parses it on a worker, and waits without a worker until the map is in the store.
//
// Reads one message at a time, so a client can be ahead only by what the transport buffers. It reads the
// header immediately, and waits for its slot before it reads the file.
//
// The library reports both the end of the stream and the loss of the client as a failed read; the size in the
// header distinguishes them.
class ImportCall final : public ReadingCall {
 public:
  // The referenced objects must outlive the call.
  ImportCall(const ServerContext& server, core::MapStore& store, ChangeQueue& changes,
             const TransferLimits& limits, grpc::CallbackServerContext& rpc, grpc::ByteBuffer& response)
      : ReadingCall(Kind::kTransfer, server, rpc, server.statistics.Of<v1::ImportMapRequest>()),
        store_(store),
        changes_(changes),
        limits_(limits),
        response_(response) {}

 private:
  absl::Status Admit() override;
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsIdle() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !is_changing_; }
  void OnReadDone(bool ok) override;
  void OnTimeout() override;
  void OnStall() override;
  void RunJob(int worker) override;

  absl::Status TakeMessage();
  absl::Status TakeHeader(const v1::ImportMapRequest& request);
  absl::Status TakeChunk(const std::string& chunk);
  absl::Status CheckComplete() const;
  absl::StatusOr<MadeMap> MakeMap();
  absl::Status CreateMap(MadeMap made);

  core::MapStore& store_;
  ChangeQueue& changes_;
  const TransferLimits limits_;
  grpc::ByteBuffer& response_;
  runtime::Flow flow_;
  std::optional<v1::ImportMapHeader> header_;
  MemoryAccount::Reservation memory_;
  std::string bytes_;
  // True while the map waits for the store or is being put into it.
  bool is_changing_ ABSL_GUARDED_BY(mutex_) = false;
};

// Returns the map as a file of that format, the errors of FormatMap, or the error of `stop`.
absl::StatusOr<std::string> WriteMapFile(const core::MapSnapshot& snapshot, core::MapFormat format,
                                         const StopCheck* stop);

// Writes a map as a file on a worker, then streams it in chunks.
class ExportCall final : public SendingCall<v1::ExportMapRequest, v1::ExportMapResponse> {
 public:
  // The referenced objects must outlive the call.
  ExportCall(const ServerContext& server, const core::MapStore& store, const TransferTimes& times,
             grpc::CallbackServerContext& rpc, const grpc::ByteBuffer& request)
      : SendingCall(server, rpc, request, times), store_(store) {}

 private:
  absl::Status Prepare(int worker) override;
  bool FillNext(v1::ExportMapResponse& message) override;

  const core::MapStore& store_;
  // Set until it is sent.
  std::optional<v1::ExportMapHeader> header_;
  std::string file_;
  // Number of bytes of the file that have been sent.
  std::size_t sent_ = 0;
};

}  // namespace waystar::rpc
