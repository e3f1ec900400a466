#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/status_macros.h"
#include "server/data_tool/commands.h"
#include "server/storage/folder/commit_log.h"
#include "server/storage/folder/log_mark.h"
#include "server/storage/folder/record_file.h"

namespace waystar::data_tool {
namespace {

constexpr absl::string_view kKeptSuffix = ".uncut";

// Read-only view of a folder with different contents of one file.
class FolderWith final : public storage::Folder {
 public:
  FolderWith(const storage::Folder& folder, std::string name, absl::string_view bytes)
      : folder_(folder), name_(std::move(name)), bytes_(bytes) {}

  std::string PathOf(absl::string_view name) const override { return folder_.PathOf(name); }
  std::string SystemRun() const override { return folder_.SystemRun(); }
  absl::StatusOr<std::string> Read(absl::string_view name) const override {
    return name == name_ ? std::string(bytes_) : folder_.Read(name);
  }
  absl::StatusOr<std::uint64_t> Size(absl::string_view name) const override {
    return name == name_ ? absl::StatusOr<std::uint64_t>(bytes_.size()) : folder_.Size(name);
  }
  absl::StatusOr<std::vector<std::string>> List() const override { return folder_.List(); }

  absl::StatusOr<std::unique_ptr<storage::AppendFile>> Create(absl::string_view /*name*/) override {
    return ReadOnly();
  }
  absl::StatusOr<std::unique_ptr<storage::SectorFile>> OpenSector(absl::string_view /*name*/) override {
    return ReadOnly();
  }
  absl::Status Secure(absl::string_view /*name*/, std::uint64_t /*from*/) override { return ReadOnly(); }
  absl::Status Rename(absl::string_view /*from*/, absl::string_view /*to*/) override { return ReadOnly(); }
  absl::Status Remove(absl::string_view /*name*/) override { return ReadOnly(); }
  absl::Status SyncNames() override { return ReadOnly(); }

 private:
  static absl::Status ReadOnly() { return absl::UnimplementedError("this is only looked at"); }

  const storage::Folder& folder_;
  const std::string name_;
  const absl::string_view bytes_;
};

absl::StatusOr<std::string> LastLogFile(const storage::Folder& folder) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.List());
  std::optional<std::uint64_t> last;
  for (const std::string& name : names) {
    if (const auto number = storage::LogFileNumber(name); number && (!last || *last < *number)) {
      last = number;
    }
  }
  if (!last) {
    return absl::InvalidArgumentError("the folder has no log");
  }
  return storage::LogFileName(*last);
}

// Returns the offset at which to cut the file.
absl::StatusOr<std::uint64_t> CutOf(const std::string& path, absl::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(path, " has only ", bytes.size(), " bytes"));
  }
  WAYSTAR_ASSIGN_OR_RETURN(
      const storage::RecordFile file,
      storage::ReadRecords(path, bytes.substr(0, offset), storage::FileKind::kLog, std::nullopt));
  if (file.records.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the first record of ", path, " must stay"));
  }
  return file.end;
}

void WriteLoss(const DataFiles& before, const DataFiles& after, std::ostream& out) {
  absl::btree_map<std::string, storage::LiveMap> kept;
  for (const storage::LiveMap& map : after.history.next.maps) {
    kept.emplace(map.id, map);
  }
  for (const storage::LiveMap& map : before.history.next.maps) {
    const auto it = kept.find(map.id);
    if (it == kept.end() || it->second.epoch != map.epoch) {
      out << "Lost: the whole of " << map.id << " of epoch " << map.epoch << ", up to revision "
          << map.revision << "\n";
      continue;
    }
    if (it->second.revision < map.revision) {
      out << "Lost: " << map.id << " from revision " << it->second.revision + 1 << " to " << map.revision
          << "\n";
    }
    kept.erase(it);
  }
  for (const auto& [id, map] : kept) {
    out << "Lost: the deletion of " << id << " of epoch " << map.epoch << "\n";
  }
}

}  // namespace

absl::StatusOr<bool> TruncateLog(storage::Folder& folder, const TruncateArguments& arguments,
                                 std::ostream& out) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::string last, LastLogFile(folder));
  if (arguments.file != last) {
    return absl::InvalidArgumentError(absl::StrCat("only the log's last file can be cut, which is ", last));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, folder.Read(last));
  WAYSTAR_ASSIGN_OR_RETURN(const std::uint64_t cut, CutOf(folder.PathOf(last), bytes, arguments.offset));
  const absl::string_view kept = absl::string_view(bytes).substr(0, cut);
  const FolderWith shorter(folder, last, kept);
  WAYSTAR_ASSIGN_OR_RETURN(const DataFiles after, ReadDataFiles(shorter));

  out << last << " has " << bytes.size() << " bytes, of which those from byte " << cut
      << " on are cut off.\n";
  if (const absl::StatusOr<DataFiles> before = ReadDataFiles(folder); before.ok()) {
    WriteLoss(*before, after, out);
  } else {
    out << "Lost: all that follows byte " << cut << ", which cannot be read\n";
  }
  out << "The maps are then:\n";
  CheckMaps(shorter, after, out);
  if (!arguments.is_confirmed) {
    out << "Nothing was changed. With --yes it is done. All maps get new epochs at the next start, since "
           "numbers of revisions that are lost are used again.\n";
    return false;
  }
  const std::string whole = absl::StrCat(last, kKeptSuffix);
  WAYSTAR_RETURN_IF_ERROR(storage::WriteWholeFile(folder, whole, bytes));
  WAYSTAR_RETURN_IF_ERROR(folder.SyncNames());
  WAYSTAR_RETURN_IF_ERROR(storage::WriteWholeFile(folder, last, kept));
  WAYSTAR_RETURN_IF_ERROR(folder.SyncNames());
  // Without a mark, the next start accepts the log as it is and gives all maps new epochs.
  WAYSTAR_RETURN_IF_ERROR(storage::RemoveIfThere(folder, storage::kMarkName));
  WAYSTAR_RETURN_IF_ERROR(folder.SyncNames());
  out << "Done. " << whole << " is the whole file.\n";
  return true;
}

}  // namespace waystar::data_tool
