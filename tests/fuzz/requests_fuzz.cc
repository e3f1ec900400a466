// Requests as bytes, one after the other on maps of one server: each is answered, or refused with a canonical
// code and a reason.

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "requests.pb.h"
#include "server/base/error.h"
#include "server/service/call/status.h"
#include "server/service/metrics/library_log.h"
#include "tests/fuzz/mutate_message.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/served_requests.h"
#include "tests/testing/random.h"

namespace waystar::fuzz {
namespace {

constexpr int kMaxRequests = 8;
constexpr std::size_t kMaxBytes = 16 * 1024;

// Ids and symbols that the maps have, and some that they have not.
constexpr absl::string_view kWords[] = {
    "squares", "next",  "hexes", "graph", "a",    "b",    "c",    "d",    "e",   "gate",  "stairs", "ferry",
    "crate",   "mud",   "boat",  "cart",  "crab", "~",    "s",    "=",    ".",   "#",     "wide",   "roof",
    "rows",    "blank", "file",  "yard",  "",     "more", "....", "..~.", "one", "No Id", "\xff"};

// Of those that a request may get; the others say that the server is at fault.
bool IsRefusal(absl::StatusCode code) {
  return code != absl::StatusCode::kInternal && code != absl::StatusCode::kUnknown &&
         code != absl::StatusCode::kDataLoss && code != absl::StatusCode::kUnimplemented;
}

}  // namespace
}  // namespace waystar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace waystar;
  using namespace waystar::fuzz;
  if (size > kMaxBytes) {
    return 0;
  }
  rpc::RouteLibraryLog();
  Requests requests;
  if (!requests.ParseFromArray(data, static_cast<int>(size)) || requests.requests_size() > kMaxRequests) {
    return 0;
  }
  ServedRequests served;
  for (const Request& request : requests.requests()) {
    const absl::Status status = served.Serve(request);
    if (!status.ok()) {
      Require(IsRefusal(status.code()), status.ToString());
      Require(!ErrorReasonOf(status).empty(), status.ToString());
      Require(rpc::ToStatusMessage(status).details_size() > 0, status.ToString());
    }
  }
  return 0;
}

// libFuzzer and the replay of the corpus take this for half of their mutations: of random bytes few are
// requests.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  using namespace waystar::fuzz;
  Requests requests;
  if (!requests.ParsePartialFromArray(data, static_cast<int>(size))) {
    requests.Clear();
  }
  waystar::testing::Random random(seed);
  for (int changes = random.Between(1, 4); changes > 0; --changes) {
    MutateMessage(requests, kWords, random);
  }
  const std::size_t bytes = requests.ByteSizeLong();
  if (bytes > max_size) {
    return size;
  }
  static_cast<void>(requests.SerializeToArray(data, static_cast<int>(bytes)));
  return bytes;
}
