#include "tests/storage/folder/crashing_folder.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar {
namespace {

constexpr std::size_t kSectorBytes = 512;

// Returns what is there of bytes of which only so many were synced.
std::string SurvivorsOf(const std::string& bytes, std::size_t synced, Loss loss, Random& random) {
  const std::size_t unsynced = bytes.size() - synced;
  switch (loss) {
    case Loss::kDrop:
      return bytes.substr(0, synced);
    case Loss::kTear:
      return bytes.substr(0,
                          synced + static_cast<std::size_t>(random.Between(0, static_cast<int>(unsynced))));
    case Loss::kKeep:
      return bytes;
    case Loss::kReorder:
      break;
  }
  std::string left = bytes;
  for (std::size_t begin = synced; begin < left.size();) {
    const std::size_t end = std::min(left.size(), (begin / kSectorBytes + 1) * kSectorBytes);
    const int fate = random.Between(0, 2);
    if (fate > 0) {
      std::fill(left.begin() + static_cast<std::ptrdiff_t>(begin),
                left.begin() + static_cast<std::ptrdiff_t>(end),
                fate == 1 ? '\0' : static_cast<char>(random.Between(0, 255)));
    }
    begin = end;
  }
  return left;
}

}  // namespace

class CrashingFolder::File final : public storage::AppendFile {
 public:
  File(CrashingFolder& folder, std::shared_ptr<Inode> inode) : folder_(folder), inode_(std::move(inode)) {}

  absl::Status Append(absl::string_view bytes) override {
    MutexLock lock(folder_.mutex_);
    bool partly = false;
    const absl::Status status = folder_.Operate(&partly);
    if (status.ok() || partly) {
      inode_->bytes.append(bytes.data(), status.ok() ? bytes.size() : bytes.size() / 2);
    }
    size_ += bytes.size();
    return status;
  }

  absl::Status Sync() override {
    MutexLock lock(folder_.mutex_);
    return inode_->Sync(folder_.Operate());
  }

  absl::Status CheckIs(absl::string_view name) const override {
    MutexLock lock(folder_.mutex_);
    const auto it = folder_.names_.find(name);
    return it != folder_.names_.end() && it->second == inode_ && inode_->bytes.size() == size_
               ? absl::OkStatus()
               : absl::DataLossError("somebody has removed or changed it");
  }

 private:
  CrashingFolder& folder_;
  const std::shared_ptr<Inode> inode_;
  std::size_t size_ = 0;
};

class CrashingFolder::Sector final : public storage::SectorFile {
 public:
  Sector(CrashingFolder& folder, std::shared_ptr<Inode> inode) : folder_(folder), inode_(std::move(inode)) {}

  absl::Status Overwrite(absl::string_view bytes) override {
    MutexLock lock(folder_.mutex_);
    WAYSTAR_RETURN_IF_ERROR(folder_.Operate());
    inode_->bytes = std::string(bytes);
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    MutexLock lock(folder_.mutex_);
    WAYSTAR_RETURN_IF_ERROR(folder_.Operate());
    inode_->stable_sector = inode_->bytes;
    return absl::OkStatus();
  }

 private:
  CrashingFolder& folder_;
  const std::shared_ptr<Inode> inode_;
};

absl::Status CrashingFolder::Inode::Sync(const absl::Status& status) {
  if (!status.ok()) {
    lost_begin = std::max(synced, lost_begin);
    lost_end = bytes.size();
    return status;
  }
  synced = bytes.size();
  return status;
}

std::string CrashingFolder::Survivors(const Inode& inode, Loss loss, Random& random) {
  if (inode.stable_sector) {
    return loss == Loss::kKeep || (loss != Loss::kDrop && random.Chance(0.5)) ? inode.bytes
                                                                              : *inode.stable_sector;
  }
  std::string left = SurvivorsOf(inode.bytes, inode.synced, loss, random);
  if (loss != Loss::kKeep) {
    const std::size_t end = std::min(inode.lost_end, left.size());
    for (std::size_t i = std::min(inode.lost_begin, end); i < end; ++i) {
      left[i] = '\0';
    }
  }
  return left;
}

void CrashingFolder::CrashAfter(std::int64_t operations) {
  MutexLock lock(mutex_);
  crash_at_ = operations_ + operations;
}

void CrashingFolder::FailAfter(std::int64_t operations, bool stays) {
  MutexLock lock(mutex_);
  fail_at_ = operations_ + operations;
  failure_stays_ = stays;
}

void CrashingFolder::StopFailing() {
  MutexLock lock(mutex_);
  fail_at_.reset();
}

bool CrashingFolder::has_crashed() const {
  MutexLock lock(mutex_);
  return crash_at_ && operations_ > *crash_at_;
}

std::unique_ptr<CrashingFolder> CrashingFolder::AfterCrash(Loss loss, std::uint64_t seed) const {
  Random random(seed);
  auto after = std::make_unique<CrashingFolder>();
  MutexLock lock(mutex_);
  const int count = static_cast<int>(changes_.size());
  const int kept = loss == Loss::kDrop ? 0 : loss == Loss::kTear ? random.Between(0, count) : count;
  Names names = synced_names_;
  for (int i = 0; i < kept; ++i) {
    if (loss != Loss::kReorder || random.Chance(0.5)) {
      changes_[static_cast<std::size_t>(i)].ApplyTo(names);
    }
  }
  MutexLock after_lock(after->mutex_);
  for (const auto& [name, inode] : names) {
    auto left = std::make_shared<Inode>();
    left->bytes = Survivors(*inode, loss, random);
    left->synced = left->bytes.size();
    if (inode->stable_sector) {
      left->stable_sector = left->bytes;
    }
    after->names_.emplace(name, std::move(left));
  }
  after->synced_names_ = after->names_;
  after->run_ = run_ + 1;
  return after;
}

std::unique_ptr<CrashingFolder> CrashingFolder::AfterKill() const {
  auto after = std::make_unique<CrashingFolder>();
  MutexLock lock(mutex_);
  MutexLock after_lock(after->mutex_);
  // What the process had open does not change any more.
  std::map<std::shared_ptr<Inode>, std::shared_ptr<Inode>> copies;
  const auto copy = [&](const std::shared_ptr<Inode>& inode) {
    std::shared_ptr<Inode>& made = copies[inode];
    if (made == nullptr && inode != nullptr) {
      made = std::make_shared<Inode>(*inode);
    }
    return made;
  };
  for (const auto& [name, inode] : names_) {
    after->names_.emplace(name, copy(inode));
  }
  for (const auto& [name, inode] : synced_names_) {
    after->synced_names_.emplace(name, copy(inode));
  }
  for (const NameChange& change : changes_) {
    after->changes_.push_back(
        {.removed = change.removed, .added = change.added, .inode = copy(change.inode)});
  }
  after->run_ = run_;
  return after;
}

std::string& CrashingFolder::Contents(const std::string& name) {
  MutexLock lock(mutex_);
  return names_.at(name)->bytes;
}

absl::Status CrashingFolder::Operate(bool* partly) {
  const std::int64_t number = operations_++;
  if (crash_at_ && number >= *crash_at_) {
    if (partly != nullptr) {
      *partly = number == *crash_at_;
    }
    return absl::UnavailableError("the power is gone");
  }
  if (fail_at_ && (number == *fail_at_ || (failure_stays_ && number > *fail_at_))) {
    if (partly != nullptr) {
      *partly = true;
    }
    return absl::UnavailableError("the disk fails");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<CrashingFolder::Inode>> CrashingFolder::Find(absl::string_view name) const {
  const auto it = names_.find(name);
  if (it == names_.end()) {
    return absl::NotFoundError(absl::StrCat("there is no ", name));
  }
  return it->second;
}

void CrashingFolder::NameChange::ApplyTo(Names& names) const {
  names.erase(removed);
  if (inode != nullptr) {
    names.insert_or_assign(added, inode);
  }
}

void CrashingFolder::Change(NameChange change) {
  change.ApplyTo(names_);
  changes_.push_back(std::move(change));
}

absl::StatusOr<std::unique_ptr<storage::AppendFile>> CrashingFolder::Create(absl::string_view name) {
  MutexLock lock(mutex_);
  WAYSTAR_RETURN_IF_ERROR(Operate());
  auto inode = std::make_shared<Inode>();
  Change({.added = std::string(name), .inode = inode});
  return std::make_unique<File>(*this, std::move(inode));
}

std::string CrashingFolder::SystemRun() const {
  MutexLock lock(mutex_);
  return absl::StrCat("run-", run_);
}

absl::StatusOr<std::unique_ptr<storage::SectorFile>> CrashingFolder::OpenSector(absl::string_view name) {
  MutexLock lock(mutex_);
  if (const auto it = names_.find(name); it != names_.end()) {
    return std::make_unique<Sector>(*this, it->second);
  }
  WAYSTAR_RETURN_IF_ERROR(Operate());
  auto inode = std::make_shared<Inode>();
  inode->stable_sector = "";
  Change({.added = std::string(name), .inode = inode});
  return std::make_unique<Sector>(*this, std::move(inode));
}

absl::Status CrashingFolder::Secure(absl::string_view name, std::uint64_t from) {
  MutexLock lock(mutex_);
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<Inode> inode, Find(name));
  const absl::Status status = Operate();
  if (status.ok()) {
    inode->lost_end = std::min(inode->lost_end, static_cast<std::size_t>(from));
  }
  return inode->Sync(status);
}

absl::StatusOr<std::uint64_t> CrashingFolder::Size(absl::string_view name) const {
  WAYSTAR_ASSIGN_OR_RETURN(const std::string bytes, Read(name));
  return bytes.size();
}

absl::StatusOr<std::string> CrashingFolder::Read(absl::string_view name) const {
  MutexLock lock(mutex_);
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<Inode> inode, Find(name));
  return inode->bytes;
}

absl::StatusOr<std::vector<std::string>> CrashingFolder::List() const {
  MutexLock lock(mutex_);
  std::vector<std::string> list;
  for (const auto& [name, inode] : names_) {
    list.push_back(name);
  }
  return list;
}

absl::Status CrashingFolder::Rename(absl::string_view from, absl::string_view to) {
  MutexLock lock(mutex_);
  WAYSTAR_RETURN_IF_ERROR(Operate());
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<Inode> inode, Find(from));
  Change({.removed = std::string(from), .added = std::string(to), .inode = std::move(inode)});
  return absl::OkStatus();
}

absl::Status CrashingFolder::Remove(absl::string_view name) {
  MutexLock lock(mutex_);
  WAYSTAR_RETURN_IF_ERROR(Operate());
  WAYSTAR_RETURN_IF_ERROR(Find(name).status());
  Change({.removed = std::string(name)});
  return absl::OkStatus();
}

absl::Status CrashingFolder::SyncNames() {
  MutexLock lock(mutex_);
  WAYSTAR_RETURN_IF_ERROR(Operate());
  synced_names_ = names_;
  changes_.clear();
  return absl::OkStatus();
}

}  // namespace waystar
