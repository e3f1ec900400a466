#include "client/cli/search_nodes.h"

namespace waystar::cli {

void SearchNodes::Add(const v1::SearchEvent& event) {
  const auto [entry, is_new] = indices_.try_emplace(event.node(), nodes_.size());
  if (is_new) {
    nodes_.push_back({.id = event.node()});
  }
  SearchedNode& node = nodes_[entry->second];
  node.g = event.g();
  node.f = event.f();
  if (event.kind() != v1::SearchEvent::KIND_EXPANDED) {
    node.parent = event.parent_node();
  } else if (!node.is_expanded) {
    node.is_expanded = true;
    expanded_.push_back(entry->second);
  }
}

std::vector<SearchedNode> SearchNodes::All() const {
  std::vector<SearchedNode> all;
  all.reserve(nodes_.size());
  for (const std::size_t index : expanded_) {
    all.push_back(nodes_[index]);
  }
  for (const SearchedNode& node : nodes_) {
    if (!node.is_expanded) {
      all.push_back(node);
    }
  }
  return all;
}

}  // namespace waystar::cli
