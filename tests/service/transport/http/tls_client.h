// A client of HTTP over TLS.
#pragma once

#include <string>

namespace waystar {

class TlsClient {
 public:
  // All as PEM.
  struct Options {
    // Those whose certificates it believes.
    std::string roots;
    // What it shows; nothing if empty.
    std::string cert = {};
    std::string key = {};
  };
  explicit TlsClient(Options options);

  // Sends bytes over a connection of its own to that port of this machine, and returns all that is answered;
  // nothing if one of the two does not accept the other.
  std::string Ask(int port, const std::string& bytes) const;

 private:
  const Options options_;
};

}  // namespace waystar
