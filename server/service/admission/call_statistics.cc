#include "server/service/admission/call_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace waystar::rpc {
namespace {

using ::google::protobuf::MethodDescriptor;

const std::vector<const MethodDescriptor*>& AllMethods() {
  static const auto* const kMethods = [] {
    auto* methods = new std::vector<const MethodDescriptor*>();
    const google::protobuf::DescriptorPool& pool = *google::protobuf::DescriptorPool::generated_pool();
    for (const char* const name :
         {"waystar.v1.MapService", "waystar.v1.PathService", "waystar.v1.PictureService",
          "waystar.v1.ServerService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"}) {
      // The library's services are found if the program is linked with their descriptors.
      const google::protobuf::ServiceDescriptor* const service = pool.FindServiceByName(name);
      for (int i = 0; service != nullptr && i < service->method_count(); ++i) {
        methods->push_back(service->method(i));
      }
    }
    return methods;
  }();
  return *kMethods;
}

// Returns bounds that double from 4 microseconds to 17 seconds.
std::vector<double> LatencyBounds() {
  std::vector<double> bounds;
  for (int doublings = 2; doublings <= 24; ++doublings) {
    bounds.push_back(std::ldexp(1e-6, doublings));
  }
  return bounds;
}

bool IsWaystars(const MethodDescriptor* method) {
  return method != nullptr && absl::StartsWith(method->full_name(), "waystar.");
}

}  // namespace

MethodStatistics::MethodStatistics() : seconds_(LatencyBounds()) {}

MethodCounts MethodStatistics::Counts() const {
  MethodCounts counts{.seconds = seconds_.Counts()};
  const auto read = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
  for (std::size_t code = 1; code < kStatusCodes; ++code) {
    counts.by_code[code] = read(failed_[code]);
  }
  counts.begun = read(begun_);
  counts.received = read(received_);
  counts.sent = read(sent_);
  const std::uint64_t failed =
      std::accumulate(counts.by_code.begin(), counts.by_code.end(), std::uint64_t{0});
  // A call that ends concurrently may be in only one of the counters.
  const std::uint64_t ended = counts.seconds.count;
  counts.by_code[0] = ended - std::min(ended, failed);
  counts.open = static_cast<std::int64_t>(counts.begun - std::min(counts.begun, ended));
  return counts;
}

CallStatistics::Row::Row(const MethodDescriptor* method)
    : descriptor(method),
      requests(IsWaystars(method) && method->client_streaming() && method->server_streaming()
                   ? std::make_unique<MethodStatistics>()
                   : nullptr) {}

CallStatistics::CallStatistics() {
  for (const MethodDescriptor* const method : AllMethods()) {
    rows_.push_back(std::make_unique<Row>(method));
    by_path_.emplace(absl::StrCat("/", method->service()->full_name(), "/", method->name()),
                     rows_.back().get());
  }
  rows_.push_back(std::make_unique<Row>(nullptr));
}

std::size_t CallStatistics::IndexOf(const google::protobuf::Descriptor* request) {
  const auto& all = AllMethods();
  const auto found = std::find_if(all.begin(), all.end(), [&](const MethodDescriptor* method) {
    return method->input_type() == request;
  });
  return static_cast<std::size_t>(found - all.begin());
}

CallStatistics::Row& CallStatistics::RowAt(absl::string_view path) {
  // Reflection has two names.
  const auto found = by_path_.find(absl::StrReplaceAll(path, {{".v1alpha.", ".v1."}}));
  return found == by_path_.end() ? *rows_.back() : *found->second;
}

void CallStatistics::CountRefused(absl::string_view path, absl::StatusCode code) {
  MethodStatistics& calls = RowAt(path).calls;
  calls.CountBegin();
  calls.CountEnd(code, std::chrono::nanoseconds(0));
}

MethodStatistics* CallStatistics::OfLibrary(absl::string_view path) {
  Row& row = RowAt(path);
  return IsWaystars(row.descriptor) ? nullptr : &row.calls;
}

}  // namespace waystar::rpc
