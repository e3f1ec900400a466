// Caller of a call that may outlive its token.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/server_context.h"
#include "server/base/mutex.h"
#include "server/base/status_macros.h"
#include "server/service/auth/access_control.h"
#include "server/service/auth/caller.h"

namespace waystar::rpc {

// Caller that is renewed when the tokens change. To miss no change, a call must arrange for Renew to be
// called after each change before it calls Identify. Thread safety: any, but Identify comes before Require
// and Get.
class LastingCaller {
 public:
  // Checks a precondition for continuing the call. Any thread may call it, one at a time.
  using Requirement = std::function<absl::Status(const Caller&)>;

  // `access` must outlive this.
  explicit LastingCaller(const AccessControl& access) : access_(access) {}

  // Identifies the caller. Returns the errors of AccessControl::Identify.
  absl::Status Identify(const grpc::CallbackServerContext& context) {
    MutexLock lock(mutex_);
    WAYSTAR_ASSIGN_OR_RETURN(Caller caller, access_.Identify(context));
    caller_ = std::move(caller);
    return absl::OkStatus();
  }

  // Checks the requirement now, and at each later Renew. REQUIRES: Identify has succeeded.
  absl::Status Require(Requirement requirement) {
    MutexLock lock(mutex_);
    requirement_ = std::move(requirement);
    return requirement_(*caller_);
  }

  // Looks its token up again. Returns the errors of AccessControl::Renew and of the requirement.
  absl::Status Renew() {
    MutexLock lock(mutex_);
    if (!caller_.has_value()) {
      return absl::OkStatus();
    }
    WAYSTAR_ASSIGN_OR_RETURN(Caller caller, access_.Renew(*caller_));
    caller_ = std::move(caller);
    return requirement_ ? requirement_(*caller_) : absl::OkStatus();
  }

  // REQUIRES: Identify has succeeded.
  Caller Get() {
    MutexLock lock(mutex_);
    return *caller_;
  }

 private:
  const AccessControl& access_;
  Mutex mutex_;
  std::optional<Caller> caller_ ABSL_GUARDED_BY(mutex_);
  Requirement requirement_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
