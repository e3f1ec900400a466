#include "server/rpc/admission/call_statistics.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace waystar::rpc {
namespace {

const std::vector<const google::protobuf::MethodDescriptor*>& AllMethods() {
  static const auto* const kMethods = [] {
    auto* methods = new std::vector<const google::protobuf::MethodDescriptor*>();
    const google::protobuf::DescriptorPool& pool = *google::protobuf::DescriptorPool::generated_pool();
    for (const char* const name :
         {"waystar.v1.MapService", "waystar.v1.PathService", "waystar.v1.ServerService"}) {
      const google::protobuf::ServiceDescriptor& service = *pool.FindServiceByName(name);
      for (int i = 0; i < service.method_count(); ++i) {
        methods->push_back(service.method(i));
      }
    }
    return methods;
  }();
  return *kMethods;
}

}  // namespace

std::uint64_t MethodCounts::requests() const {
  return std::accumulate(by_latency.begin(), by_latency.end(), std::uint64_t{0});
}

MethodCounts MethodStatistics::Counts() const {
  MethodCounts counts;
  const auto read = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
  counts.open = static_cast<std::int64_t>(read(opened_) - read(closed_));
  std::ranges::transform(by_latency_, counts.by_latency.begin(), read);
  for (std::size_t code = 1; code < kStatusCodes; ++code) {
    counts.by_code[code] = read(failed_[code]);
  }
  const std::uint64_t failed =
      std::accumulate(counts.by_code.begin(), counts.by_code.end(), std::uint64_t{0});
  // A failure that is under way may be counted as one and not yet as a request, or the other way round.
  counts.by_code[0] = counts.requests() - std::min(counts.requests(), failed);
  counts.open = std::max(counts.open, std::int64_t{0});
  return counts;
}

CallStatistics::CallStatistics() {
  for (std::size_t i = 0; i <= AllMethods().size(); ++i) {
    methods_.push_back(std::make_unique<MethodStatistics>());
  }
}

std::size_t CallStatistics::IndexOf(const google::protobuf::Descriptor* request) {
  const auto& all = AllMethods();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto* method) { return method->input_type() == request; });
  return static_cast<std::size_t>(found - all.begin());
}

std::vector<CallStatistics::Method> CallStatistics::Called() const {
  std::vector<Method> called;
  for (std::size_t i = 0; i < AllMethods().size(); ++i) {
    const MethodCounts counts = methods_[i]->Counts();
    if (counts.open > 0 || counts.requests() > 0) {
      called.push_back({AllMethods()[i], counts});
    }
  }
  return called;
}

}  // namespace waystar::rpc
