#include "server/storage/folder/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/storage/folder/commit_log.h"

namespace waystar::storage {
namespace {

constexpr absl::string_view kLockName = "LOCK";
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// Returns the error of a system call; without `path`, the caller adds it.
absl::Status Error(int error, absl::string_view doing, absl::string_view path = "") {
  const absl::StatusCode code = error == ENOENT                      ? absl::StatusCode::kNotFound
                                : error == ENOSPC || error == EDQUOT ? absl::StatusCode::kResourceExhausted
                                                                     : absl::StatusCode::kUnavailable;
  return {code, absl::StrCat("cannot ", doing, path.empty() ? "" : " ", path, ": ",
                             std::generic_category().message(error))};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }

  int number() const { return number_; }

 private:
  int number_;
};

// Repeats a call that was interrupted by a signal.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

absl::Status InFile(const absl::Status& status, absl::string_view path) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

// Returns the stat of a name in a folder; does not follow symbolic links.
absl::StatusOr<struct stat> StateOf(int folder, absl::string_view name) {
  struct stat state = {};
  if (fstatat(folder, std::string(name).c_str(), &state, AT_SYMLINK_NOFOLLOW) < 0) {
    return Error(errno, "look at", name);
  }
  return state;
}

absl::Status WriteAt(int file, absl::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written =
        Retry([&] { return pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written < 0) {
      return Error(errno, "write");
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return absl::OkStatus();
}

absl::Status SyncData(int file) {
  return Retry([&] { return fdatasync(file); }) < 0 ? Error(errno, "sync") : absl::OkStatus();
}

class PosixFile final : public AppendFile {
 public:
  PosixFile(Descriptor file, int folder) : file_(std::move(file)), folder_(folder) {}

  absl::Status Append(absl::string_view bytes) override {
    WAYSTAR_RETURN_IF_ERROR(WriteAt(file_.number(), bytes, size_));
    size_ += bytes.size();
    return absl::OkStatus();
  }

  absl::Status Sync() override { return SyncData(file_.number()); }

  absl::Status CheckIs(absl::string_view name) const override {
    struct stat own = {};
    if (fstat(file_.number(), &own) < 0) {
      return Error(errno, "look at it");
    }
    const absl::StatusOr<struct stat> named = StateOf(folder_, name);
    if (!named.ok() || named->st_ino != own.st_ino || named->st_dev != own.st_dev) {
      return absl::DataLossError("the file was removed or replaced while it was written");
    }
    if (static_cast<std::uint64_t>(own.st_size) != size_) {
      return absl::DataLossError(absl::StrCat("the file has ", own.st_size, " bytes, and ", size_,
                                              " were written: something else changed it"));
    }
    return absl::OkStatus();
  }

 private:
  const Descriptor file_;
  // Descriptor of the folder, which outlives its files.
  const int folder_;
  std::uint64_t size_ = 0;
};

class PosixSectorFile final : public SectorFile {
 public:
  PosixSectorFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  absl::Status Overwrite(absl::string_view bytes) override {
    return InFile(WriteAt(file_.number(), bytes, 0), path_);
  }
  absl::Status Sync() override { return InFile(SyncData(file_.number()), path_); }

 private:
  const Descriptor file_;
  const std::string path_;
};

std::string WithoutLastSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

class PosixFolder final : public Folder {
 public:
  PosixFolder(Descriptor folder, Descriptor lock, std::string path)
      : folder_(std::move(folder)), lock_(std::move(lock)), path_(WithoutLastSlash(std::move(path))) {}

  std::string PathOf(absl::string_view name) const override {
    return name.empty() ? path_ : absl::StrCat(path_, "/", name);
  }

  std::string SystemRun() const override {
    const Descriptor file(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    std::array<char, 64> text = {};
    const ssize_t length =
        file.number() < 0 ? 0 : Retry([&] { return read(file.number(), text.data(), text.size()); });
    const absl::string_view run(text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    return std::string(absl::StripAsciiWhitespace(run));
  }

  absl::StatusOr<std::unique_ptr<AppendFile>> Create(absl::string_view name) override {
    WAYSTAR_ASSIGN_OR_RETURN(Descriptor file, Open(name, O_WRONLY | O_CREAT | O_TRUNC, "create"));
    return std::make_unique<PosixFile>(std::move(file), folder_.number());
  }

  absl::StatusOr<std::unique_ptr<SectorFile>> OpenSector(absl::string_view name) override {
    WAYSTAR_ASSIGN_OR_RETURN(Descriptor file, Open(name, O_WRONLY | O_CREAT, "open"));
    return std::make_unique<PosixSectorFile>(std::move(file), PathOf(name));
  }

  absl::StatusOr<std::string> Read(absl::string_view name) const override {
    WAYSTAR_ASSIGN_OR_RETURN(const Descriptor file, Open(name, O_RDONLY, "read"));
    return ReadFrom(file, name, 0);
  }

  absl::StatusOr<std::uint64_t> Size(absl::string_view name) const override {
    WAYSTAR_ASSIGN_OR_RETURN(const struct stat state, StateOf(folder_.number(), name));
    return static_cast<std::uint64_t>(state.st_size);
  }

  absl::Status Secure(absl::string_view name, std::uint64_t from) override {
    WAYSTAR_ASSIGN_OR_RETURN(const struct stat state, StateOf(folder_.number(), name));
    const bool is_rewritten = from < static_cast<std::uint64_t>(state.st_size);
    WAYSTAR_ASSIGN_OR_RETURN(const Descriptor file, Open(name, is_rewritten ? O_RDWR : O_RDONLY, "open"));
    if (is_rewritten) {
      WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, ReadFrom(file, name, from));
      WAYSTAR_RETURN_IF_ERROR(InFile(WriteAt(file.number(), bytes, from), PathOf(name)));
    }
    return InFile(SyncData(file.number()), PathOf(name));
  }

  absl::StatusOr<std::vector<std::string>> List() const override {
    // Lists the open folder, even if its path has changed.
    const int number = openat(folder_.number(), ".", kFolderFlags);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(number < 0 ? nullptr : fdopendir(number), &closedir);
    if (entries == nullptr) {
      return Error(errno, "list", path_);
    }
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* const entry = readdir(entries.get())) {
      const absl::string_view name = entry->d_name;
      if (name != "." && name != ".." && name != kLockName) {
        names.emplace_back(name);
      }
    }
    if (errno != 0) {
      return Error(errno, "list", path_);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::Status Rename(absl::string_view from, absl::string_view to) override {
    const int folder = folder_.number();
    return renameat(folder, std::string(from).c_str(), folder, std::string(to).c_str()) < 0
               ? Error(errno, "rename", PathOf(from))
               : absl::OkStatus();
  }

  absl::Status Remove(absl::string_view name) override {
    return unlinkat(folder_.number(), std::string(name).c_str(), 0) < 0 ? Error(errno, "remove", PathOf(name))
                                                                        : absl::OkStatus();
  }

  absl::Status SyncNames() override {
    return Retry([&] { return fsync(folder_.number()); }) < 0 ? Error(errno, "sync", path_)
                                                              : absl::OkStatus();
  }

 private:
  absl::StatusOr<Descriptor> Open(absl::string_view name, int flags, absl::string_view doing) const {
    constexpr mode_t kMode = 0640;
    // O_NONBLOCK: opening a pipe would block.
    constexpr int kAlways = O_CLOEXEC | O_NONBLOCK;
    const int number =
        Retry([&] { return openat(folder_.number(), std::string(name).c_str(), flags | kAlways, kMode); });
    if (number < 0) {
      return Error(errno, doing, PathOf(name));
    }
    Descriptor file(number);
    struct stat state = {};
    if (fstat(number, &state) < 0) {
      return Error(errno, doing, PathOf(name));
    }
    if (!S_ISREG(state.st_mode)) {
      return absl::FailedPreconditionError(absl::StrCat(PathOf(name), " is not a regular file"));
    }
    return file;
  }

  // Returns the contents of an open file from an offset on.
  absl::StatusOr<std::string> ReadFrom(const Descriptor& file, absl::string_view name,
                                       std::uint64_t from) const {
    struct stat state = {};
    if (fstat(file.number(), &state) < 0) {
      return Error(errno, "read", PathOf(name));
    }
    const auto size = static_cast<std::uint64_t>(state.st_size);
    std::string bytes(size - std::min(size, from), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = Retry([&] {
        return pread(file.number(), bytes.data() + done, bytes.size() - done,
                     static_cast<off_t>(from + done));
      });
      if (got < 0) {
        return Error(errno, "read", PathOf(name));
      }
      if (got == 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

  const Descriptor folder_;
  // Lock file, for file systems that cannot lock folders; else -1.
  const Descriptor lock_;
  const std::string path_;
};

// Syncs the name of a folder, in its parent.
absl::Status SyncNameOf(int folder, const std::string& path) {
  const Descriptor parent(openat(folder, "..", kFolderFlags));
  // If the parent cannot be opened, syncs the whole file system.
  const int synced = Retry([&] { return parent.number() < 0 ? syncfs(folder) : fsync(parent.number()); });
  return synced < 0 ? Error(errno, "sync the folder that holds", path) : absl::OkStatus();
}

absl::StatusOr<Descriptor> OpenOrCreate(const std::string& path) {
  constexpr mode_t kFolderMode = 0750;
  int folder = open(path.c_str(), kFolderFlags);
  if (folder < 0 && errno == ENOENT) {
    if (mkdir(path.c_str(), kFolderMode) < 0 && errno != EEXIST) {
      return Error(errno, "create", path);
    }
    folder = open(path.c_str(), kFolderFlags);
  }
  if (folder < 0) {
    return Error(errno, "open", path);
  }
  return Descriptor(folder);
}

bool LocksNoFolders(int error) {
  return error == EBADF || error == EINVAL || error == ENOLCK || error == EOPNOTSUPP;
}

}  // namespace

absl::Status RemoveIfThere(Folder& folder, absl::string_view name) {
  const absl::Status removed = folder.Remove(name);
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

absl::StatusOr<std::unique_ptr<Folder>> OpenPosixFolder(const std::string& path) {
  constexpr mode_t kLockMode = 0640;
  WAYSTAR_ASSIGN_OR_RETURN(Descriptor folder, OpenOrCreate(path));
  Descriptor lock(-1);
  int locked = flock(folder.number(), LOCK_EX | LOCK_NB);
  if (locked < 0 && LocksNoFolders(errno)) {
    // Network file systems lock only files that are open for writing.
    lock = Descriptor(
        openat(folder.number(), std::string(kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kLockMode));
    locked = lock.number() < 0 ? -1 : flock(lock.number(), LOCK_EX | LOCK_NB);
  }
  if (locked < 0) {
    return errno == EWOULDBLOCK ? absl::FailedPreconditionError(
                                      absl::StrCat("another server uses ", path, ", which is locked"))
                                : Error(errno, "lock", path);
  }
  const int number = folder.number();
  auto opened = std::make_unique<PosixFolder>(std::move(folder), std::move(lock), path);
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, opened->List());
  // The folder may have been created by a server that was killed before the sync.
  if (!HasLogFile(names)) {
    WAYSTAR_RETURN_IF_ERROR(SyncNameOf(number, path));
  }
  return opened;
}

absl::StatusOr<std::unique_ptr<Folder>> OpenSharedPosixFolder(const std::string& path) {
  Descriptor folder(open(path.c_str(), kFolderFlags));
  if (folder.number() < 0) {
    return Error(errno, "open", path);
  }
  return std::make_unique<PosixFolder>(std::move(folder), Descriptor(-1), path);
}

}  // namespace waystar::storage
