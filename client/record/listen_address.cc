#include "client/record/listen_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace waystar::record {
namespace {

// What the system says to a program that listens on `address`.
std::string WhyNot(const addrinfo& address) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  constexpr int kYes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof(kYes));
  const bool can = fd >= 0 && bind(fd, address.ai_addr, address.ai_addrlen) == 0 && listen(fd, 1) == 0;
  const int error = errno;
  if (fd >= 0) {
    close(fd);
  }
  if (!can && error == EADDRINUSE) {
    return "it is in use by another program; give another port, or 0 for a free one";
  }
  return can ? "the system does not say why" : std::strerror(error);
}

}  // namespace

absl::Status CheckListenAddress(absl::string_view address) {
  const std::size_t colon = address.rfind(':');
  int port = 0;
  if (colon == absl::string_view::npos || colon == 0 || !absl::SimpleAtoi(address.substr(colon + 1), &port) ||
      port < 0 || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", address,
        "' is not where to listen: write HOST:PORT, such as 127.0.0.1:7451; the port is from 0 to "
        "65535"));
  }
  return absl::OkStatus();
}

absl::Status CannotListen(absl::string_view address) {
  const std::size_t colon = address.rfind(':');
  const std::string host(absl::StripSuffix(absl::StripPrefix(address.substr(0, colon), "["), "]"));
  const std::string port(address.substr(colon + 1));
  const addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, [](addrinfo* each) {
    if (each != nullptr) {
      freeaddrinfo(each);
    }
  });
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, ": ", error != 0 ? gai_strerror(error) : WhyNot(*found)));
}

}  // namespace waystar::record
