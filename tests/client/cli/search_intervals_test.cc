#include "client/cli/search_intervals.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace waystar::cli {
namespace {

v1::SearchEvent Event(v1::SearchEvent::Kind kind, std::uint32_t id, std::uint32_t parent, double g) {
  v1::SearchEvent event;
  event.set_kind(kind);
  event.mutable_interval()->set_id(id);
  event.mutable_interval()->set_parent(parent);
  event.set_g(g);
  event.set_f(g + 1);
  return event;
}

// "+2<-1 3/4" is expanded, "2<-1 3/4" is open.
std::string Show(const SearchIntervals& intervals) {
  return absl::StrJoin(intervals.All(), " ", [](std::string* out, const SearchedInterval& interval) {
    absl::StrAppend(out, interval.is_expanded ? "+" : "", interval.interval.id(), "<-",
                    interval.interval.parent(), " ", interval.g, "/", interval.f);
  });
}

TEST(SearchIntervalsTest, GathersWhatBecameOfEachInterval) {
  constexpr auto kGenerated = v1::SearchEvent::KIND_GENERATED;
  constexpr auto kExpanded = v1::SearchEvent::KIND_EXPANDED;
  SearchIntervals intervals;
  EXPECT_EQ(intervals.open(), 0U);
  intervals.Add(Event(kGenerated, 1, 0, 0));
  intervals.Add(Event(kGenerated, 2, 0, 0));
  intervals.Add(Event(kExpanded, 2, 0, 0));
  intervals.Add(Event(kGenerated, 3, 2, 4));
  intervals.Add(Event(kExpanded, 1, 0, 0));
  EXPECT_EQ(intervals.open(), 1U);
  EXPECT_EQ(Show(intervals), "+2<-0 0/1 +1<-0 0/1 3<-2 4/5");
}

}  // namespace
}  // namespace waystar::cli
