#include "server/rpc/maps/node_listing.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/rpc/wire/convert_graph.h"

namespace waystar::rpc {
namespace {

// What a node takes beside itself in its message, at the most, and the rest of the message.
constexpr std::size_t kNodeEnvelopeBytes = 6;
constexpr std::size_t kRestBytes = 128;

// Fills a page, one node after the other.
class NodePageFiller {
 public:
  NodePageFiller(const core::WaypointGraph& graph, std::size_t max_nodes, std::size_t max_bytes,
                 v1::ListNodesResponse& response)
      : graph_(graph), max_nodes_(max_nodes), max_bytes_(max_bytes), response_(response) {}

  // False if it is full.
  bool Add(core::NodeNumber node) {
    const auto count = static_cast<std::size_t>(response_.nodes_size());
    if (count == max_nodes_) {
      return false;
    }
    v1::WaypointNodeInfo info;
    FillNodeInfo(graph_, node, info);
    bytes_ += info.ByteSizeLong() + kNodeEnvelopeBytes;
    if (count > 0 && bytes_ > max_bytes_) {
      return false;
    }
    response_.add_nodes()->Swap(&info);
    return true;
  }

 private:
  const core::WaypointGraph& graph_;
  const std::size_t max_nodes_;
  const std::size_t max_bytes_;
  v1::ListNodesResponse& response_;
  std::size_t bytes_ = kRestBytes;
};

}  // namespace

absl::Status ListWaypointNodes(const core::MapStore& store, std::size_t max_bytes,
                               const v1::ListNodesRequest& request, v1::ListNodesResponse& response) {
  constexpr int kDefaultNodes = 100;
  constexpr int kMaxPageNodes = 1000;
  if (request.page_size() < 0) {
    return InvalidArgument(ErrorReason::kBadValue, "page_size",
                           absl::StrCat("a page has at least 1 node, not ", request.page_size()));
  }
  if (request.ids_size() > kMaxPageNodes) {
    return InvalidArgument(ErrorReason::kBadValue, "ids",
                           absl::StrCat("at most ", kMaxPageNodes, " ids, not ", request.ids_size()));
  }
  core::NodeNumber first = 0;
  if (!request.page_token().empty() && !absl::SimpleAtoi(request.page_token(), &first)) {
    return InvalidArgument(ErrorReason::kBadValue, "page_token", "this is no token of an earlier page");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  WAYSTAR_RETURN_IF_ERROR(core::CheckIsGraph(*snapshot));
  const core::WaypointGraph& graph = snapshot->graph();
  response.set_revision(snapshot->revision);
  if (request.ids_size() > 0) {
    NodePageFiller page(graph, kMaxPageNodes, max_bytes, response);
    for (const std::string& id : request.ids()) {
      const core::NodeNumber node = graph.FindNode(id);
      if (node != core::kNoNodeNumber && !page.Add(node)) {
        return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "ids",
                         "these nodes do not fit into a message: ask for fewer");
      }
    }
    return absl::OkStatus();
  }
  const int wanted = request.page_size() == 0 ? kDefaultNodes : std::min(request.page_size(), kMaxPageNodes);
  NodePageFiller page(graph, static_cast<std::size_t>(wanted), max_bytes, response);
  for (core::NodeNumber node = first; node < graph.number_limit(); ++node) {
    if (graph.Exists(node) && !page.Add(node)) {
      response.set_next_page_token(absl::StrCat(node));
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::rpc
