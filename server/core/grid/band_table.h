// Where the bands of a plane begin.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "server/base/mutex.h"

namespace waystar::core {

// A plain array of pointers, one a band, which reading a plane goes by. Copies share it; a changed copy has
// an array of its own, which is not copied whole if that can be helped: it takes the memory of one that
// nobody reads any more, and brings up to date what has changed since that one. So where a plane is changed
// again and again, and those before go after a while, it costs in proportion to the changes; at the worst,
// and on small planes, a copy.
//
// Arrays that were made of each other, one after the other, are versions of one line, numbered from 0. A line
// remembers the last changes and keeps the memory of kMaxSpares arrays. Of several copies of one version the
// first goes on with its line, the others begin lines of their own.
//
// Thread safety: const methods from any thread, whatever is done with other tables of the line. Set before
// anybody else knows of the table.
template <typename T>
class BandTable {
 public:
  BandTable() = default;
  BandTable(std::size_t bands, T* start) : bands_(bands) {
    BeginLine();
    std::fill_n(starts_.get(), bands, start);
  }

  T* operator[](std::size_t band) const { return starts_[static_cast<std::ptrdiff_t>(band)]; }

  // One that is equal, to be written to.
  BandTable ChangedCopy() const {
    BandTable copy;
    copy.bands_ = bands_;
    if (line_ == nullptr || !copy.GoOnWithLine(*this)) {
      copy.BeginLine();
      std::copy_n(starts_.get(), bands_, copy.starts_.get());
    }
    return copy;
  }

  // REQUIRES: this was made by ChangedCopy, and not copied since.
  void Set(std::size_t band, T* start) {
    starts_[static_cast<std::ptrdiff_t>(band)] = start;
    if (line_ != nullptr) {
      line_->Note(version_, band);
    }
  }

  // What a table takes; spare memory is not counted.
  static constexpr std::size_t BytesFor(std::size_t bands) { return bands * sizeof(T*); }

 private:
  using Array = std::unique_ptr<T*[]>;

  // Fewer pointers are copied faster than changes are listed.
  static constexpr std::size_t kMaxSmall = 256;
  static constexpr std::size_t kMaxSpares = 2;

  class Line {
   public:
    // Remembers so many changes at the least.
    explicit Line(std::size_t changes) : max_changes_(changes) {}

    // The number of the next version after `version`, 0 if there is one already. `spare` is given what a
    // spare array needs to be as that of `version`, which is `starts`; null if there is none.
    std::uint64_t Next(std::uint64_t version, T* const* starts, Array& spare) {
      MutexLock lock(mutex_);
      if (version != latest_) {
        return 0;
      }
      const auto latest_spare =
          std::max_element(spares_.begin(), spares_.end(),
                           [](const Spare& a, const Spare& b) { return a.version < b.version; });
      if (latest_spare != spares_.end() && latest_spare->version >= forgotten_) {
        spare = std::move(latest_spare->array);
        for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
          if (change->version <= latest_spare->version) {
            break;
          }
          spare[change->band] = starts[change->band];
        }
        spares_.erase(latest_spare);
      }
      return ++latest_;
    }

    void Note(std::uint64_t version, std::size_t band) {
      MutexLock lock(mutex_);
      if (changes_.size() == 2 * max_changes_) {
        const auto end = changes_.begin() + static_cast<std::ptrdiff_t>(max_changes_);
        forgotten_ = std::prev(end)->version;
        changes_.erase(changes_.begin(), end);
      }
      changes_.push_back({version, band});
    }

    void TakeBack(std::uint64_t version, Array array) {
      MutexLock lock(mutex_);
      // The array that it takes the place of is freed without the lock.
      if (spares_.size() < kMaxSpares) {
        spares_.push_back({version, std::move(array)});
        return;
      }
      for (Spare& spare : spares_) {
        if (spare.version < version) {
          std::swap(spare.version, version);
          std::swap(spare.array, array);
        }
      }
    }

   private:
    struct Change {
      std::uint64_t version = 0;
      std::size_t band = 0;
    };
    struct Spare {
      std::uint64_t version = 0;
      Array array;
    };

    const std::size_t max_changes_;
    Mutex mutex_;
    std::uint64_t latest_ ABSL_GUARDED_BY(mutex_) = 0;
    // Ascending by version; those up to version forgotten_ may be missing.
    std::vector<Change> changes_ ABSL_GUARDED_BY(mutex_);
    std::uint64_t forgotten_ ABSL_GUARDED_BY(mutex_) = 0;
    // As they were when they were let go of.
    std::vector<Spare> spares_ ABSL_GUARDED_BY(mutex_);
  };

  void BeginLine() {
    if (bands_ > kMaxSmall) {
      line_ = std::make_shared<Line>(bands_ / 4);
      Hold(Array(new T*[bands_]));
    } else {
      starts_ = std::make_shared_for_overwrite<T*[]>(bands_);
    }
  }

  // False if another has.
  bool GoOnWithLine(const BandTable& before) {
    Array array;
    version_ = before.line_->Next(before.version_, before.starts_.get(), array);
    if (version_ == 0) {
      return false;
    }
    if (array == nullptr) {
      array.reset(new T*[bands_]);
      std::copy_n(before.starts_.get(), bands_, array.get());
    }
    line_ = before.line_;
    Hold(std::move(array));
    return true;
  }

  void Hold(Array array) {
    starts_ = std::shared_ptr<T*[]>(array.release(), [line = line_, version = version_](T** starts) {
      line->TakeBack(version, Array(starts));
    });
  }

  std::size_t bands_ = 0;
  std::shared_ptr<T*[]> starts_;
  // Null for small tables.
  std::shared_ptr<Line> line_;
  std::uint64_t version_ = 0;
};

}  // namespace waystar::core
