#include "tests/stress/soak_tally.h"

#include <iostream>

#include "absl/strings/str_cat.h"

namespace waystar::stress {

void SoakTally::Note(const char* call, const grpc::Status& status) {
  ++calls_;
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return;
    default:
      Fault(absl::StrCat(call, ": ", status.error_code(), " ", status.error_message()));
  }
}

void SoakTally::Fault(const std::string& what) {
  constexpr int kMostWords = 20;
  if (faults_.fetch_add(1) < kMostWords) {
    std::cerr << absl::StrCat(what, "\n");
  }
}

}  // namespace waystar::stress
