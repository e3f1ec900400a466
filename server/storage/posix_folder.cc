#include "server/storage/posix_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace waystar::storage {
namespace {

constexpr absl::string_view kLockName = "LOCK";

absl::Status Error(int error, absl::string_view doing, absl::string_view path) {
  const absl::StatusCode code = error == ENOENT                      ? absl::StatusCode::kNotFound
                                : error == ENOSPC || error == EDQUOT ? absl::StatusCode::kResourceExhausted
                                                                     : absl::StatusCode::kUnavailable;
  return {code, absl::StrCat("cannot ", doing, " ", path, ": ", std::generic_category().message(error))};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      close(number_);
    }
  }

  int number() const { return number_; }

 private:
  int number_;
};

// Calls again what a signal has interrupted.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

class PosixFile final : public AppendFile {
 public:
  PosixFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  absl::Status Append(absl::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = Retry([&] { return write(file_.number(), bytes.data(), bytes.size()); });
      if (written < 0) {
        return Error(errno, "write", path_);
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    return Retry([&] { return fdatasync(file_.number()); }) < 0 ? Error(errno, "sync", path_)
                                                                : absl::OkStatus();
  }

 private:
  const Descriptor file_;
  const std::string path_;
};

class PosixFolder final : public Folder {
 public:
  PosixFolder(Descriptor folder, Descriptor lock, std::string path)
      : folder_(std::move(folder)), lock_(std::move(lock)), path_(std::move(path)) {}

  std::string PathOf(absl::string_view name) const override { return absl::StrCat(path_, "/", name); }

  absl::StatusOr<std::unique_ptr<AppendFile>> Create(absl::string_view name) override {
    WAYSTAR_ASSIGN_OR_RETURN(Descriptor file, Open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, "create"));
    return std::make_unique<PosixFile>(std::move(file), PathOf(name));
  }

  absl::StatusOr<std::string> Read(absl::string_view name) const override {
    WAYSTAR_ASSIGN_OR_RETURN(const Descriptor file, Open(name, O_RDONLY, "read"));
    struct stat state = {};
    if (fstat(file.number(), &state) < 0) {
      return Error(errno, "read", PathOf(name));
    }
    std::string bytes(static_cast<std::size_t>(state.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got =
          Retry([&] { return read(file.number(), bytes.data() + done, bytes.size() - done); });
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

  absl::StatusOr<std::vector<std::string>> List() const override {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(path_.c_str()), &closedir);
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
    const int number =
        Retry([&] { return openat(folder_.number(), std::string(name).c_str(), flags | O_CLOEXEC, kMode); });
    if (number < 0) {
      return Error(errno, doing, PathOf(name));
    }
    return Descriptor(number);
  }

  const Descriptor folder_;
  const Descriptor lock_;
  const std::string path_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Folder>> OpenPosixFolder(const std::string& path) {
  constexpr mode_t kFolderMode = 0750;
  constexpr mode_t kLockMode = 0640;
  if (mkdir(path.c_str(), kFolderMode) < 0 && errno != EEXIST) {
    return Error(errno, "create", path);
  }
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() < 0) {
    return Error(errno, "open", path);
  }
  const std::string lock_path = absl::StrCat(path, "/", kLockName);
  Descriptor lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kLockMode));
  if (lock.number() < 0) {
    return Error(errno, "open", lock_path);
  }
  if (flock(lock.number(), LOCK_EX | LOCK_NB) < 0) {
    return errno == EWOULDBLOCK ? absl::FailedPreconditionError(
                                      absl::StrCat("another server uses ", path, ", which is locked"))
                                : Error(errno, "lock", lock_path);
  }
  return std::make_unique<PosixFolder>(std::move(folder), std::move(lock), path);
}

}  // namespace waystar::storage
