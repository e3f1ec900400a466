#include "server/data_tool/data_tool.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/data_tool/commands.h"
#include "server/storage/folder/folder.h"

namespace waystar::data_tool {
namespace {

constexpr int kOk = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;

constexpr absl::string_view kUsageText =
    "Looks into the folder in which a server keeps its maps (--data_dir), while no server uses it.\n"
    "\n"
    "Usage:\n"
    "  waystar-server data list DIR\n"
    "      Lists the maps: kind, size, epoch, revision, digest, image and the commits after it.\n"
    "  waystar-server data check DIR\n"
    "      Reads everything as a start would, and reports for each map whether it is whole. Changes "
    "nothing.\n"
    "  waystar-server data dump DIR MAP\n"
    "      Prints the commits of a map that the log holds, one a line, as JSON.\n"
    "  waystar-server data truncate DIR FILE OFFSET [--yes]\n"
    "      Cuts the log's last file where the last record ends that ends at OFFSET or before. What follows "
    "is\n"
    "      lost. Without --yes it only tells what that is.\n"
    "\n"
    "Exit codes: 0 all is well, 1 damage or another failure, 2 wrong usage.\n";

absl::StatusOr<std::unique_ptr<storage::Folder>> OpenFolder(const std::string& path) {
  // OpenPosixFolder would create a missing folder.
  if (std::error_code error; !std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(absl::StrCat("there is no folder ", path));
  }
  absl::StatusOr<std::unique_ptr<storage::Folder>> folder = storage::OpenPosixFolder(path);
  if (folder.status().code() == absl::StatusCode::kFailedPrecondition) {
    return absl::FailedPreconditionError(absl::StrCat(folder.status().message(), "; stop the server first"));
  }
  return folder;
}

// Runs a command with valid arguments. Returns true if all is well.
absl::StatusOr<bool> Run(const std::vector<std::string>& words, bool is_confirmed, std::uint64_t offset,
                         std::ostream& out) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::unique_ptr<storage::Folder> folder, OpenFolder(words[1]));
  if (words[0] == "list") {
    return ListMaps(*folder, out);
  }
  if (words[0] == "check") {
    return CheckFolder(*folder, out);
  }
  if (words[0] == "dump") {
    WAYSTAR_RETURN_IF_ERROR(DumpCommits(*folder, words[2], out));
    return true;
  }
  return TruncateLog(*folder, {.file = words[2], .offset = offset, .is_confirmed = is_confirmed}, out);
}

// Returns the number of words of a command, including itself; 0 if it is unknown.
std::size_t WordsOf(const std::string& command) {
  if (command == "list" || command == "check") {
    return 2;
  }
  return command == "dump" ? 3 : command == "truncate" ? 4 : 0;
}

}  // namespace

int RunDataTool(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  std::vector<std::string> words = arguments;
  const bool is_confirmed = std::erase(words, "--yes") > 0;
  if (!words.empty() && (words[0] == "--help" || words[0] == "help")) {
    out << kUsageText;
    return kOk;
  }
  std::uint64_t offset = 0;
  if (words.empty() || words.size() != WordsOf(words[0]) || (is_confirmed && words[0] != "truncate") ||
      (words[0] == "truncate" && !absl::SimpleAtoi(words[3], &offset))) {
    err << kUsageText;
    return kUsage;
  }
  const absl::StatusOr<bool> is_well = Run(words, is_confirmed, offset, out);
  if (!is_well.ok()) {
    err << "waystar-server data: " << is_well.status().message() << "\n";
    return kFailure;
  }
  return *is_well ? kOk : kFailure;
}

}  // namespace waystar::data_tool
