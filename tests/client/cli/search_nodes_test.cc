#include "client/cli/search_nodes.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace waystar::cli {
namespace {

v1::SearchEvent Event(v1::SearchEvent::Kind kind, const std::string& node, const std::string& parent,
                      double g) {
  v1::SearchEvent event;
  event.set_kind(kind);
  event.set_node(node);
  event.set_parent_node(parent);
  event.set_g(g);
  event.set_f(g + 1);
  return event;
}

// "+a<-b 3/4" is expanded, "a<-b 3/4" is open.
std::string Show(const SearchNodes& nodes) {
  return absl::StrJoin(nodes.All(), " ", [](std::string* out, const SearchedNode& node) {
    absl::StrAppend(out, node.is_expanded ? "+" : "", node.id, "<-", node.parent, " ", node.g, "/", node.f);
  });
}

TEST(SearchNodesTest, GathersWhatBecameOfEachNode) {
  constexpr auto kGenerated = v1::SearchEvent::KIND_GENERATED;
  constexpr auto kExpanded = v1::SearchEvent::KIND_EXPANDED;
  SearchNodes nodes;
  EXPECT_EQ(nodes.open(), 0U);
  nodes.Add(Event(kGenerated, "a", "", 0));
  nodes.Add(Event(kExpanded, "a", "", 0));
  nodes.Add(Event(kGenerated, "b", "a", 9));
  nodes.Add(Event(kGenerated, "c", "a", 2));
  nodes.Add(Event(kGenerated, "d", "a", 5));
  nodes.Add(Event(kExpanded, "c", "", 2));
  nodes.Add(Event(kGenerated, "b", "c", 3));
  EXPECT_EQ(nodes.open(), 2U);
  nodes.Add(Event(kExpanded, "b", "", 3));
  EXPECT_EQ(nodes.open(), 1U);
  EXPECT_EQ(Show(nodes), "+a<- 0/1 +c<-a 2/3 +b<-c 3/4 d<-a 5/6");
}

}  // namespace
}  // namespace waystar::cli
