// File descriptor, closed by its owner's destructor.
#pragma once

#include <unistd.h>

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

}  // namespace waystar::net
