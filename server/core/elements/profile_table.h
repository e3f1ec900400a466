// Tables of the named movement profiles of maps: profiles of any type with a `name`, ordered by their names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

namespace waystar::core {

inline constexpr std::size_t kMaxProfiles = 64;

// Returns INVALID_ARGUMENT / BAD_PROFILE with field "name" unless CheckName (tags.h) holds.
absl::Status CheckProfileName(absl::string_view name);

// Makes the error NOT_FOUND / PROFILE_NOT_FOUND.
absl::Status NoSuchProfile(absl::string_view name, absl::string_view field);

// Returns the profile with that name, or null.
template <typename Profile>
const Profile* FindProfile(const std::vector<Profile>& profiles, absl::string_view name) {
  const auto found = std::ranges::find(profiles, name, &Profile::name);
  return found == profiles.end() ? nullptr : &*found;
}

// Inserts a profile that is valid, or replaces the one with the same name. Returns RESOURCE_EXHAUSTED /
// TOO_MANY_PROFILES with field "name".
template <typename Profile>
absl::Status InsertProfile(Profile profile, std::vector<Profile>& profiles) {
  const auto place = std::ranges::lower_bound(profiles, profile.name, {}, &Profile::name);
  if (place != profiles.end() && place->name == profile.name) {
    *place = std::move(profile);
    return absl::OkStatus();
  }
  if (profiles.size() == kMaxProfiles) {
    return MakeError(ErrorReason::kTooManyProfiles, "name",
                     absl::StrCat("a map has at most ", kMaxProfiles, " profiles"));
  }
  profiles.insert(place, std::move(profile));
  return absl::OkStatus();
}

// Removes a profile. Returns the error of CheckProfileName, or NOT_FOUND / PROFILE_NOT_FOUND, without a
// field.
template <typename Profile>
absl::Status RemoveProfileNamed(absl::string_view name, std::vector<Profile>& profiles) {
  WAYSTAR_RETURN_IF_ERROR(WithField(CheckProfileName(name), ""));
  const auto found = std::ranges::find(profiles, name, &Profile::name);
  if (found == profiles.end()) {
    return NoSuchProfile(name, "");
  }
  profiles.erase(found);
  return absl::OkStatus();
}

}  // namespace waystar::core
