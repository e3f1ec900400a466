#include "server/service/transport/net/descriptor.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "server/runtime/logging.h"

namespace waystar::net {
namespace {

constexpr std::size_t kDefaultConnections = 10'000;

std::size_t DescriptorLimit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) {
    return;
  }
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) {
    runtime::Log(runtime::LogLevel::kInfo, "descriptor_limit_raised",
                 {{"from", before}, {"to", limit.rlim_max}});
  } else {
    runtime::Log(runtime::LogLevel::kWarning, "descriptor_limit_not_raised",
                 {{"limit", before}, {"error", std::strerror(errno)}});
  }
}

std::size_t ConnectionsWithin(std::size_t descriptors) {
  const std::size_t reserve = std::clamp<std::size_t>(descriptors / 4, 32, 256);
  return descriptors > reserve ? descriptors - reserve : 1;
}

std::size_t MaxConnections(std::size_t wanted) {
  const std::size_t descriptors = DescriptorLimit();
  const std::size_t possible = ConnectionsWithin(descriptors);
  if (wanted > possible) {
    runtime::Log(runtime::LogLevel::kWarning, "too_few_descriptors",
                 {{"warning", "The limit of open files (ulimit -n) allows fewer than --max_connections."},
                  {"descriptors", descriptors},
                  {"max_connections", possible}});
  }
  return std::min(wanted == 0 ? kDefaultConnections : wanted, possible);
}

}  // namespace waystar::net
