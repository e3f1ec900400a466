#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/load/scenario_file.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::load {

// Immutable set of queries to choose from, and of cells that updates may block and unblock.
class Workload {
 public:
  using Random = std::mt19937_64;

  // Draws from the server what the parts leave to chance. With `want_toggles` it also draws a few cells to
  // block from the maps of all parts; no query whose cells are given starts or ends there, and random queries
  // avoid them. Errors: those of SampleCells; FAILED_PRECONDITION if a map has no place to draw, or
  // none to block.
  static absl::StatusOr<Workload> Make(std::vector<Part> parts, const client::Client& client,
                                       std::uint64_t seed, bool want_toggles);

  // Returns the queries of a part, which are about one map; parts are picked by weight.
  const std::vector<v1::FindPathRequest>& PickPart(Random& random) const;
  static const v1::FindPathRequest& PickQuery(const std::vector<v1::FindPathRequest>& part, Random& random);

  struct Toggle {
    std::string map;
    v1::Cell cell;
  };
  const std::vector<Toggle>& toggles() const { return toggles_; }

 private:
  Workload() = default;

  std::vector<Part> parts_;
  // Prefix sums of the weights of the parts.
  std::vector<double> weights_;
  std::vector<Toggle> toggles_;
};

}  // namespace waystar::load
