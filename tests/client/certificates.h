// Certificates for tests, made when they are asked for.
#pragma once

#include <string>

namespace waystar::testing {

struct Certificate {
  // PEM.
  std::string certificate;
  std::string key;
};

// Vouches for itself, and for others.
Certificate MakeAuthority(const std::string& name);

// For a server that is called `name`, or a client of that name; `authority` vouches for it.
Certificate MakeCertificate(const std::string& name, const Certificate& authority);

// Writes `text` to a file of the test's own and returns its path.
std::string WriteFile(const std::string& name, const std::string& text);

}  // namespace waystar::testing
