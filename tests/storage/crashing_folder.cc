#include "tests/storage/crashing_folder.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace waystar::testing {
namespace {

constexpr std::size_t kSectorBytes = 512;

// Returns what is there of bytes of which only so many were synced.
std::string Survivors(const std::string& bytes, std::size_t synced, Loss loss, Random& random) {
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
    return status;
  }

  absl::Status Sync() override {
    MutexLock lock(folder_.mutex_);
    const absl::Status status = folder_.Operate();
    if (status.ok()) {
      inode_->synced = inode_->bytes.size();
    }
    return status;
  }

 private:
  CrashingFolder& folder_;
  const std::shared_ptr<Inode> inode_;
};

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

std::int64_t CrashingFolder::operations() const {
  MutexLock lock(mutex_);
  return operations_;
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
    left->bytes = Survivors(inode->bytes, inode->synced, loss, random);
    left->synced = left->bytes.size();
    after->names_.emplace(name, std::move(left));
  }
  after->synced_names_ = after->names_;
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
  if (const absl::Status status = Operate(); !status.ok()) {
    return status;
  }
  auto inode = std::make_shared<Inode>();
  Change({.added = std::string(name), .inode = inode});
  return std::make_unique<File>(*this, std::move(inode));
}

absl::StatusOr<std::string> CrashingFolder::Read(absl::string_view name) const {
  MutexLock lock(mutex_);
  const auto it = names_.find(name);
  if (it == names_.end()) {
    return absl::NotFoundError(absl::StrCat("there is no ", name));
  }
  return it->second->bytes;
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
  if (const absl::Status status = Operate(); !status.ok()) {
    return status;
  }
  const auto it = names_.find(from);
  if (it == names_.end()) {
    return absl::NotFoundError(absl::StrCat("there is no ", from));
  }
  Change({.removed = std::string(from), .added = std::string(to), .inode = it->second});
  return absl::OkStatus();
}

absl::Status CrashingFolder::Remove(absl::string_view name) {
  MutexLock lock(mutex_);
  if (const absl::Status status = Operate(); !status.ok()) {
    return status;
  }
  if (!names_.contains(name)) {
    return absl::NotFoundError(absl::StrCat("there is no ", name));
  }
  Change({.removed = std::string(name)});
  return absl::OkStatus();
}

absl::Status CrashingFolder::SyncNames() {
  MutexLock lock(mutex_);
  const absl::Status status = Operate();
  if (status.ok()) {
    synced_names_ = names_;
    changes_.clear();
  }
  return status;
}

}  // namespace waystar::testing
