#include "tests/service/metrics/scrape.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/patience.h"

namespace waystar::testing {
namespace {

// The whole answer, or an empty text.
std::string Get(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  const timeval limit = absl::ToTimeval(kPatience);
  EXPECT_EQ(::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    constexpr absl::string_view kRequest =
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(::send(socket, kRequest.data(), kRequest.size(), 0), static_cast<ssize_t>(kRequest.size()));
    char buffer[4096];
    ssize_t length = 0;
    while ((length = ::recv(socket, buffer, sizeof(buffer), 0)) > 0) {
      answer.append(buffer, static_cast<std::size_t>(length));
    }
    EXPECT_EQ(length, 0) << "the answer does not end";
  }
  ::close(socket);
  return answer;
}

void Read(absl::string_view line, Scrape& scrape) {
  const std::size_t space = line.rfind(' ');
  double value = 0;
  if (absl::StartsWith(line, "# TYPE ")) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    EXPECT_TRUE(scrape.types.emplace(words.at(2), words.at(3)).second) << "a second " << line;
  } else if (space != absl::string_view::npos && absl::SimpleAtod(line.substr(space + 1), &value)) {
    EXPECT_TRUE(scrape.samples.emplace(line.substr(0, space), value).second) << "a second " << line;
  } else if (!absl::StartsWith(line, "# HELP ")) {
    scrape.strange.emplace(line);
  }
}

}  // namespace

double Scrape::operator[](const std::string& sample) const {
  const auto found = samples.find(sample);
  return found == samples.end() ? 0 : found->second;
}

std::set<std::string> Scrape::LabelsOf(const std::string& name, const std::string& label) const {
  std::set<std::string> values;
  for (const auto& [sample, value] : samples) {
    const std::size_t begin = sample.find(label + "=\"");
    if (absl::StartsWith(sample, name + "{") && begin != std::string::npos) {
      const std::size_t text = begin + label.size() + 2;
      values.insert(sample.substr(text, sample.find('"', text) - text));
    }
  }
  return values;
}

Scrape ScrapeMetrics(int port) {
  const std::string answer = Get(port);
  EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 200 ")) << answer.substr(0, 200);
  const std::size_t body = answer.find("\r\n\r\n");
  Scrape scrape;
  if (body != std::string::npos) {
    for (const absl::string_view line :
         absl::StrSplit(absl::string_view(answer).substr(body + 4), '\n', absl::SkipEmpty())) {
      Read(line, scrape);
    }
  }
  return scrape;
}

}  // namespace waystar::testing
