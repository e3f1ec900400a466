#include "server/storage/fleet/cluster_keys.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/core/store/update_batch.h"

namespace waystar::cluster {
namespace {

std::string Digits(std::uint64_t number) { return absl::StrCat(absl::Hex(number, absl::kZeroPad16)); }

std::optional<std::uint64_t> NumberOf(absl::string_view digits) {
  std::uint64_t number = 0;
  if (digits.size() != 16 || !absl::SimpleHexAtoi(digits, &number)) {
    return std::nullopt;
  }
  return number;
}

// The byte after '/'. A key that ends with it sorts after all keys that have '/' in its place.
constexpr char kAfterSlash = '/' + 1;

}  // namespace

std::string ClusterKeys::Maps() const { return absl::StrCat(prefix_, "maps/"); }

std::string ClusterKeys::Head(absl::string_view id) const { return absl::StrCat(Maps(), id, "/head"); }

std::string ClusterKeys::End(absl::string_view id) const { return absl::StrCat(Maps(), id, "/end"); }

std::string ClusterKeys::Log(absl::string_view id, core::MapVersion last) const {
  return absl::StrCat(LogBegin(id, last.epoch), Digits(last.revision));
}

std::string ClusterKeys::LogBegin(absl::string_view id, std::uint64_t epoch) const {
  return absl::StrCat(Maps(), id, "/log/", Digits(epoch), "/");
}

std::string ClusterKeys::LogEnd(absl::string_view id, std::uint64_t epoch) const {
  return absl::StrCat(Maps(), id, "/log/", Digits(epoch), std::string(1, kAfterSlash));
}

std::string ClusterKeys::Servers() const { return absl::StrCat(prefix_, "servers/"); }

std::string ClusterKeys::Server(std::uint64_t server) const {
  return absl::StrCat(Servers(), Digits(server));
}

std::string ClusterKeys::Probe() const { return absl::StrCat(prefix_, "probe"); }

std::string ClusterKeys::Bases() const { return absl::StrCat(prefix_, "base/"); }

std::string ClusterKeys::Base(absl::string_view id) const { return absl::StrCat(Bases(), id); }

std::string ClusterKeys::Data(absl::string_view id, core::MapVersion version, std::uint64_t writer) const {
  return absl::StrCat(DataOf(id, version), "-", Digits(writer), "/");
}

std::string ClusterKeys::DataBegin(absl::string_view id, std::uint64_t epoch) const {
  return absl::StrCat(prefix_, "data/", id, "/", Digits(epoch), "/");
}

std::string ClusterKeys::DataEnd(absl::string_view id, std::uint64_t epoch) const {
  return absl::StrCat(prefix_, "data/", id, "/", Digits(epoch), std::string(1, kAfterSlash));
}

std::string ClusterKeys::DataOf(absl::string_view id, core::MapVersion version) const {
  return absl::StrCat(DataBegin(id, version.epoch), Digits(version.revision));
}

std::optional<ClusterKeys::MapKey> ClusterKeys::ParseMapKey(absl::string_view key) const {
  if (!absl::ConsumePrefix(&key, prefix_) || !absl::ConsumePrefix(&key, "maps/")) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
  if (parts.size() < 2 || !core::CheckMapId(parts[0]).ok()) {
    return std::nullopt;
  }
  MapKey parsed{.id = std::string(parts[0])};
  if (parts.size() == 2 && (parts[1] == "head" || parts[1] == "end")) {
    parsed.kind = parts[1] == "head" ? MapKey::Kind::kHead : MapKey::Kind::kEnd;
    return parsed;
  }
  if (parts.size() != 4 || parts[1] != "log") {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> epoch = NumberOf(parts[2]);
  const std::optional<std::uint64_t> revision = NumberOf(parts[3]);
  if (!epoch || !revision) {
    return std::nullopt;
  }
  parsed.kind = MapKey::Kind::kRecord;
  parsed.version = {.epoch = *epoch, .revision = *revision};
  return parsed;
}

std::string ClusterKeys::AllData() const { return absl::StrCat(prefix_, "data/"); }

std::optional<ClusterKeys::DataKey> ClusterKeys::ParseDataKey(absl::string_view key) const {
  const absl::string_view whole = key;
  if (!absl::ConsumePrefix(&key, prefix_) || !absl::ConsumePrefix(&key, "data/")) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
  if (parts.size() != 4 || !core::CheckMapId(parts[0]).ok() || !NumberOf(parts[3])) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> names = absl::StrSplit(parts[2], '-');
  const std::optional<std::uint64_t> epoch = NumberOf(parts[1]);
  const std::optional<std::uint64_t> revision = NumberOf(names[0]);
  if (names.size() != 2 || !epoch || !revision || !NumberOf(names[1])) {
    return std::nullopt;
  }
  return DataKey{.id = std::string(parts[0]),
                 .version = {.epoch = *epoch, .revision = *revision},
                 .data = std::string(whole.substr(0, whole.size() - parts[3].size()))};
}

std::optional<std::string> ClusterKeys::ParseBaseKey(absl::string_view key) const {
  if (!absl::ConsumePrefix(&key, prefix_) || !absl::ConsumePrefix(&key, "base/") ||
      !core::CheckMapId(key).ok()) {
    return std::nullopt;
  }
  return std::string(key);
}

std::string PartKey(absl::string_view data, std::size_t number) { return absl::StrCat(data, Digits(number)); }

}  // namespace waystar::cluster
