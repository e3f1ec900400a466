// Loaded into the server by LD_PRELOAD. It keeps a copy of what the files of one folder have on stable
// storage, from which unsynced_loss.h makes the folder as it is after a loss of power.
//
// UNSYNCED_LOSS_FOLDER is the watched folder, by its real path. UNSYNCED_LOSS_STABLE is a folder beside it:
// - inodes/<inode>: the content of a file at its last sync.
// - names: a line "<inode> <name>" for each name in the watched folder at the last sync of that folder.
// - folder: is there if the watched folder was there when the folder around it was synced.
// - held/<inode>: a link to each file above, so that the system does not use its inode number again.
// A sync of a watched file does all that and nothing else: the disk is not waited for.
//
// UNSYNCED_LOSS_BOOT_ID is a file to read in the place of the machine's boot id. UNSYNCED_LOSS_KILL_AT is a
// number: the sync of that number, from 1, kills the process before anything is stable.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Settings {
  std::string folder = Variable("UNSYNCED_LOSS_FOLDER");
  std::string parent = folder.substr(0, folder.rfind('/'));
  std::string stable = Variable("UNSYNCED_LOSS_STABLE");
  std::string boot_id = Variable("UNSYNCED_LOSS_BOOT_ID");
  int kill_at = std::atoi(Variable("UNSYNCED_LOSS_KILL_AT").c_str());
};

const Settings& GetSettings() {
  static const Settings* const settings = new Settings;
  return *settings;
}

// The system's call itself, which is not watched.
int Open(const std::string& path, int flags, int folder = AT_FDCWD) {
  return static_cast<int>(syscall(SYS_openat, folder, path.c_str(), flags | O_CLOEXEC, 0600));
}

std::string LinkOf(int file) { return "/proc/self/fd/" + std::to_string(file); }

// Returns the path that a file was opened by, and is at now.
std::string PathOf(int file) {
  std::array<char, 4096> path;
  const ssize_t length = readlink(LinkOf(file).c_str(), path.data(), path.size());
  return length < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(length));
}

bool WriteAll(int file, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, bytes, size);
    if (written < 0) {
      return false;
    }
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool Hold(int file, const std::string& inode) {
  const std::string held = GetSettings().stable + "/held/" + inode;
  // A file that is removed meanwhile cannot be linked.
  return linkat(AT_FDCWD, LinkOf(file).c_str(), AT_FDCWD, held.c_str(), AT_SYMLINK_FOLLOW) == 0 ||
         errno == EEXIST || errno == ENOENT;
}

// The copy is written over in place. What a kill leaves of it is what a sync that has not returned may leave.
bool SyncFile(int file) {
  struct stat state = {};
  if (fstat(file, &state) < 0) {
    return false;
  }
  if (state.st_nlink == 0) {
    // It was removed, and a file with a stable name would be held. Its inode number will be used again.
    return true;
  }
  if (!Hold(file, std::to_string(state.st_ino))) {
    return false;
  }
  // The file may be open for writing alone.
  const int from = Open(LinkOf(file), O_RDONLY);
  const int to = Open(GetSettings().stable + "/inodes/" + std::to_string(state.st_ino), O_WRONLY | O_CREAT);
  std::array<char, 1 << 16> bytes;
  ssize_t got = 0;
  bool is_good = from >= 0 && to >= 0;
  while (is_good && (got = read(from, bytes.data(), bytes.size())) > 0) {
    is_good = WriteAll(to, bytes.data(), static_cast<std::size_t>(got));
  }
  is_good = is_good && got == 0 && ftruncate(to, lseek(to, 0, SEEK_CUR)) == 0;
  close(from);
  close(to);
  return is_good;
}

bool SyncNames() {
  const Settings& settings = GetSettings();
  DIR* const entries = opendir(settings.folder.c_str());
  if (entries == nullptr) {
    return false;
  }
  std::string names;
  bool is_good = true;
  while (const dirent* const entry = readdir(entries)) {
    const int file = Open(entry->d_name, O_PATH | O_NOFOLLOW, dirfd(entries));
    struct stat state = {};
    // A file may be removed meanwhile.
    if (file >= 0 && fstat(file, &state) == 0 && S_ISREG(state.st_mode)) {
      const std::string inode = std::to_string(state.st_ino);
      is_good = is_good && Hold(file, inode);
      names += inode + " " + entry->d_name + "\n";
    }
    close(file);
  }
  closedir(entries);
  const std::string temporary = settings.stable + "/names.new";
  const int to = Open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  is_good = is_good && to >= 0 && WriteAll(to, names.data(), names.size()) &&
            rename(temporary.c_str(), (settings.stable + "/names").c_str()) == 0;
  close(to);
  return is_good;
}

bool SyncParent() {
  const Settings& settings = GetSettings();
  if (access(settings.folder.c_str(), F_OK) == 0) {
    close(Open(settings.stable + "/folder", O_WRONLY | O_CREAT));
  }
  return true;
}

int Sync(int file, long call) {
  const Settings& settings = GetSettings();
  const std::string path = PathOf(file);
  const bool is_folder = path == settings.folder;
  const bool is_parent = path == settings.parent;
  const bool is_file = path.rfind(settings.folder + "/", 0) == 0;
  if (settings.folder.empty() || (!is_folder && !is_parent && !is_file)) {
    return static_cast<int>(syscall(call, file));
  }
  static std::mutex* const mutex = new std::mutex;
  static int syncs = 0;
  const std::lock_guard lock(*mutex);
  if (++syncs == settings.kill_at) {
    kill(getpid(), SIGKILL);
  }
  return (is_folder ? SyncNames() : is_parent ? SyncParent() : SyncFile(file)) ? 0 : -1;
}

int OpenInstead(int folder, const char* path, int flags, mode_t mode) {
  const std::string& boot_id = GetSettings().boot_id;
  if (!boot_id.empty() && std::strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) {
    path = boot_id.c_str();
  }
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

// Reads the mode, which follows the flags if a file may be created.
#define READ_MODE()                   \
  mode_t mode = 0;                    \
  if ((flags & O_CREAT) != 0) {       \
    va_list arguments;                \
    va_start(arguments, flags);       \
    mode = va_arg(arguments, mode_t); \
    va_end(arguments);                \
  }

}  // namespace

extern "C" {

int fsync(int file) { return Sync(file, SYS_fsync); }
int fdatasync(int file) { return Sync(file, SYS_fdatasync); }

int open(const char* path, int flags, ...) {
  READ_MODE();
  return OpenInstead(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  READ_MODE();
  return OpenInstead(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  READ_MODE();
  return OpenInstead(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  READ_MODE();
  return OpenInstead(folder, path, flags, mode);
}

}  // extern "C"
