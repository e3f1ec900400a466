// What a server's metrics say, as Prometheus reads them.
#pragma once

#include <map>
#include <set>
#include <string>

namespace waystar::testing {

struct Scrape {
  // From "name" or "name{label="value",...}", as it is written, to the value.
  std::map<std::string, double> samples;
  // From the name of a family to its type.
  std::map<std::string, std::string> types;
  // Lines that are none of these.
  std::set<std::string> strange;

  // 0 if there is none of that name.
  double operator[](const std::string& sample) const;
  // The different values of a label, of all samples of that name.
  std::set<std::string> LabelsOf(const std::string& name, const std::string& label) const;
};

// Gets http://127.0.0.1:port/metrics. Fails the test if that is not answered with 200.
Scrape ScrapeMetrics(int port);

}  // namespace waystar::testing
