#include "client/cli/searched_places.h"

#include "absl/strings/str_cat.h"
#include "client/cli/cell_argument.h"

namespace waystar::cli {
namespace {

// Returns a name that is unique to the place of an event within its search.
std::string PlaceOf(const v1::SearchEvent& event) {
  if (event.has_interval()) {
    return absl::StrCat(event.interval().id());
  }
  return event.node().empty() ? FormatCell(event.cell()) : event.node();
}

}  // namespace

void SearchedPlaces::Add(const v1::SearchEvent& event) {
  const auto [entry, is_new] = indices_.try_emplace(PlaceOf(event), places_.size());
  if (is_new) {
    places_.push_back({.reached = event});
  }
  Place& place = places_[entry->second];
  if (event.kind() != v1::SearchEvent::KIND_EXPANDED) {
    place.reached = event;
    return;
  }
  place.reached.set_g(event.g());
  place.reached.set_f(event.f());
  if (!place.is_expanded) {
    place.is_expanded = true;
    expanded_.push_back(entry->second);
  }
}

std::vector<v1::SearchEvent> SearchedPlaces::Expanded() const {
  std::vector<v1::SearchEvent> events;
  events.reserve(expanded_.size());
  for (const std::size_t index : expanded_) {
    events.push_back(places_[index].reached);
  }
  return events;
}

std::vector<v1::SearchEvent> SearchedPlaces::Open() const {
  std::vector<v1::SearchEvent> events;
  events.reserve(open());
  for (const Place& place : places_) {
    if (!place.is_expanded) {
      events.push_back(place.reached);
    }
  }
  return events;
}

}  // namespace waystar::cli
