// What a server's metrics say, as Prometheus reads them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/service/transport/net/tcp_client.h"

namespace waystar {

struct Scrape {
  // From "name" or "name{label="value",...}", as it is written, to the value.
  std::map<std::string, double> samples;
  // From the name of a family to its type.
  std::map<std::string, std::string> types;
  // Lines that are none of these.
  std::set<std::string> strange;

  // 0 if there is none of that name.
  double operator[](const std::string& sample) const {
    const auto found = samples.find(sample);
    return found == samples.end() ? 0 : found->second;
  }
  // The different values of a label, of all samples of that name.
  std::set<std::string> LabelsOf(const std::string& name, const std::string& label) const {
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

  void Read(absl::string_view line) {
    const std::size_t space = line.rfind(' ');
    double value = 0;
    if (absl::StartsWith(line, "# HELP ")) {
      return;
    }
    if (absl::StartsWith(line, "# TYPE ")) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      EXPECT_TRUE(types.emplace(words.at(2), words.at(3)).second) << "a second " << line;
    } else if (space != absl::string_view::npos && absl::SimpleAtod(line.substr(space + 1), &value)) {
      EXPECT_TRUE(samples.emplace(line.substr(0, space), value).second) << "a second " << line;
    } else {
      strange.emplace(line);
    }
  }
};

// Gets http://127.0.0.1:port/metrics. Fails the test if that is not answered with 200.
inline Scrape ScrapeMetrics(int port) {
  TcpClient client(port);
  client.Send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadToTheEnd();
  EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 200 ")) << answer.substr(0, 200);
  const std::size_t body = answer.find("\r\n\r\n");
  Scrape scrape;
  if (body != std::string::npos) {
    for (const absl::string_view line :
         absl::StrSplit(absl::string_view(answer).substr(body + 4), '\n', absl::SkipEmpty())) {
      scrape.Read(line);
    }
  }
  return scrape;
}

}  // namespace waystar
