// Reactor of MapService.ExportMap, which writes a map as a file on a worker, then streams it in chunks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/base/stop_check.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/map_store.h"
#include "server/formats/text/map_format.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/sending_call.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// Returns the map as a file of that format, the errors of FormatMap, or the error of `stop`.
absl::StatusOr<std::string> WriteMapFile(const core::MapSnapshot& snapshot, core::MapFormat format,
                                         const StopCheck* stop);

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
