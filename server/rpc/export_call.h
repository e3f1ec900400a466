// MapService.ExportMap: writes a map as a file on a worker, then streams it in chunks.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/store/map_store.h"
#include "server/rpc/executor.h"
#include "server/rpc/transfer_call.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

// One write is under way at a time, so that a slow reader costs the file and no more, for as long as the time
// limit allows.
class ExportCall final : public TransferCall<grpc::ServerWriteReactor<grpc::ByteBuffer>> {
 public:
  // What the references name must outlive the call.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Start(const core::MapStore& store, Executor& executor,
                                                           TransferSlots& slots, absl::Duration timeout,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request);

 private:
  ExportCall(const core::MapStore& store, Executor& executor, TransferSlots& slots,
             grpc::CallbackServerContext* context)
      : TransferCall(executor, slots), store_(store), context_(context) {}

  void OnWriteDone(bool ok) override;
  void OnExpired() override;
  void Run(int worker) override;

  absl::Status WriteFile(v1::ExportMapHeader& header);
  void Write(const v1::ExportMapResponse& message);

  const core::MapStore& store_;
  grpc::CallbackServerContext* const context_;
  v1::ExportMapRequest request_;
  std::string file_;
  // What of the file has been written.
  std::size_t written_ = 0;
  grpc::ByteBuffer message_;
};

}  // namespace waystar::rpc
