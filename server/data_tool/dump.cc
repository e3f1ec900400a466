#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "server/base/status_macros.h"
#include "server/data_tool/commands.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"
#include "server/storage/folder/image_file.h"
#include "server/storage/folder/log_entry.h"

namespace waystar::data_tool {
namespace {

// Hexagons appear in plane coordinates (lattice.h), since the log does not contain the layout.
std::string CommitLine(const core::LoggedCommit& logged, std::uint64_t epoch) {
  const core::Commit& commit = *logged.commit;
  v1::MapRevision message;
  rpc::FillCommit(commit, rpc::HexCoordinates(), message);
  message.mutable_version()->set_epoch(epoch);
  for (const core::Edit& edit : commit.edits) {
    rpc::FillEdit(edit, rpc::HexCoordinates(), *message.add_edits());
  }
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(message, &text).ok()) {
    text = "{}";
  }
  auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  json["digest"] = absl::StrCat(absl::Hex(commit.digest, absl::kZeroPad16));
  if (!logged.request_id.empty()) {
    json["requestId"] = logged.request_id;
  }
  if (logged.request_time) {
    json["requestTime"] = absl::FormatTime(absl::RFC3339_full, *logged.request_time, absl::UTCTimeZone());
  }
  return json.dump();
}

}  // namespace

absl::Status DumpCommits(const storage::Folder& folder, const std::string& map, std::ostream& out) {
  WAYSTAR_ASSIGN_OR_RETURN(const DataFiles files, ReadDataFiles(folder));
  const auto& maps = files.history.next.maps;
  if (std::ranges::none_of(maps, [&](const storage::LiveMap& live) { return live.id == map; })) {
    return absl::NotFoundError(absl::StrCat("there is no map \"", map, "\" in ", folder.PathOf("")));
  }
  const auto entries = files.history.entries.find(map);
  if (entries == files.history.entries.end()) {
    return absl::OkStatus();
  }
  for (const storage::LocatedEntry& located : entries->second) {
    if (located.entry.kind != storage::LogEntry::Kind::kCommits) {
      continue;
    }
    const auto commits = storage::DecodeCommits(located.entry.body);
    if (!commits.ok()) {
      return storage::Damage(files.history.files[located.file].path, located.offset,
                             commits.status().message());
    }
    for (const core::LoggedCommit& commit : *commits) {
      out << CommitLine(commit, located.entry.epoch) << "\n";
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::data_tool
