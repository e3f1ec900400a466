// File descriptors: their owner, and the limit on how many may be open.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <utility>

namespace waystar::net {

class Descriptor {
 public:
  // A negative number stands for none.
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

  // Passes ownership to the caller.
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) {
      ::close(Release());
    }
  }

 private:
  int fd_;
};

// Raises the soft limit on descriptors to the hard limit, and logs it.
void RaiseDescriptorLimit();

// Returns how many connections a descriptor limit allows, at least 1. A quarter of the descriptors, at least
// 32 and at most 256, is reserved for everything else.
std::size_t ConnectionsWithin(std::size_t descriptors);

// Returns the connection limit of a server: `wanted`, or 10,000 if that is 0, or what descriptors allow if
// that is less. Logs a warning if `wanted` is not possible.
std::size_t MaxConnections(std::size_t wanted);

}  // namespace waystar::net
