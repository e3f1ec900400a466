#include "tests/e2e/unsynced_loss.h"

#include <sys/stat.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "server/storage/folder/commit_log.h"
#include "tests/testing/folders.h"

namespace waystar {
namespace {

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  EXPECT_TRUE(file.flush().good()) << path;
}

// Returns the inode of each name in a folder. A server may remove files meanwhile.
std::map<std::string, std::string> NamesIn(const std::string& folder) {
  std::map<std::string, std::string> names;
  if (std::filesystem::exists(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      struct stat state = {};
      if (::stat(entry.path().c_str(), &state) == 0) {
        names[entry.path().filename()] = absl::StrCat(state.st_ino);
      }
    }
  }
  return names;
}

std::map<std::string, std::string> ReadNames(const std::string& path) {
  std::map<std::string, std::string> names;
  std::ifstream file(path);
  std::string inode;
  std::string name;
  while (file >> inode && std::getline(file >> std::ws, name)) {
    names[name] = inode;
  }
  return names;
}

// Returns what a disk may have of a file: what was synced, and some of what was written since.
std::string ContentAfterLoss(const std::string& stable, const std::string& written, Random& random) {
  if (stable == written || random.Chance(0.5)) {
    return stable;
  }
  if (!absl::StartsWith(written, stable)) {
    return written;
  }
  const int size = random.Between(static_cast<int>(stable.size()), static_cast<int>(written.size()));
  return written.substr(0, static_cast<std::size_t>(size));
}

}  // namespace

UnsyncedLoss::UnsyncedLoss(const std::filesystem::path& parent)
    : data_(std::filesystem::canonical(parent) / "data"),
      stable_(std::filesystem::canonical(parent) / "stable"),
      boot_id_(std::filesystem::canonical(parent) / "boot_id") {
  std::filesystem::create_directories(stable_ + "/inodes");
  std::filesystem::create_directories(stable_ + "/held");
  ChangeBootId();
}

void UnsyncedLoss::MakeFolder() {
  std::filesystem::create_directory(data_);
  SyncAll();
}

std::vector<std::string> UnsyncedLoss::Environment(int kill_at) const {
  return {absl::StrCat("LD_PRELOAD=", (BuildFolder() / "lib/unsynced_loss.so").string()),
          absl::StrCat("UNSYNCED_LOSS_FOLDER=", data_), absl::StrCat("UNSYNCED_LOSS_STABLE=", stable_),
          absl::StrCat("UNSYNCED_LOSS_BOOT_ID=", boot_id_), absl::StrCat("UNSYNCED_LOSS_KILL_AT=", kill_at)};
}

bool UnsyncedLoss::IsLogStable() const {
  std::string last;
  std::string last_inode;
  for (const auto& [name, inode] : NamesIn(data_)) {
    if (storage::LogFileNumber(name)) {
      last = name;
      last_inode = inode;
    }
  }
  const std::map<std::string, std::string> names = ReadNames(stable_ + "/names");
  const auto it = names.find(last);
  return it != names.end() && it->second == last_inode &&
         ContentOf(absl::StrCat(stable_, "/inodes/", last_inode)) ==
             ContentOf(absl::StrCat(data_, "/", last));
}

void UnsyncedLoss::Lose(Random& random) {
  ChangeBootId();
  const bool is_folder_stable = std::filesystem::exists(stable_ + "/folder");
  const std::vector<File> files = is_folder_stable ? Remaining(random) : std::vector<File>();
  std::filesystem::remove_all(data_);
  for (const char* const part : {"/inodes", "/held", "/names", "/folder"}) {
    std::filesystem::remove_all(stable_ + part);
  }
  std::filesystem::create_directories(stable_ + "/inodes");
  std::filesystem::create_directories(stable_ + "/held");
  if (!is_folder_stable) {
    return;
  }
  std::filesystem::create_directory(data_);
  for (const File& file : files) {
    WriteFile(absl::StrCat(data_, "/", file.name), file.content);
  }
  SyncAll();
}

std::vector<UnsyncedLoss::File> UnsyncedLoss::Remaining(Random& random) const {
  // What was written to each inode. A file without a name in the folder may be held.
  std::map<std::string, std::string> written;
  for (const std::string& folder : {stable_ + "/held", data_}) {
    for (const auto& [name, inode] : NamesIn(folder)) {
      written[inode] = ContentOf(absl::StrCat(folder, "/", name));
    }
  }
  std::vector<File> files;
  for (const auto& [name, inode] : random.Chance(0.5) ? NamesIn(data_) : ReadNames(stable_ + "/names")) {
    const std::string stable = ContentOf(absl::StrCat(stable_, "/inodes/", inode));
    files.push_back({.name = name, .content = ContentAfterLoss(stable, written[inode], random)});
  }
  return files;
}

void UnsyncedLoss::SyncAll() const {
  std::string lines;
  for (const auto& [name, inode] : NamesIn(data_)) {
    const std::string path = absl::StrCat(data_, "/", name);
    std::filesystem::copy_file(path, absl::StrCat(stable_, "/inodes/", inode));
    std::filesystem::create_hard_link(path, absl::StrCat(stable_, "/held/", inode));
    absl::StrAppend(&lines, inode, " ", name, "\n");
  }
  WriteFile(stable_ + "/names", lines);
  WriteFile(stable_ + "/folder", "");
}

void UnsyncedLoss::ChangeBootId() {
  WriteFile(boot_id_, absl::StrFormat("00000000-0000-4000-8000-%012d\n", ++boots_));
}

}  // namespace waystar
