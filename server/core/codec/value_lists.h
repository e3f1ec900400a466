// Lists, enumerations and 32-bit integers in images and logs.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "server/core/codec/value_reader.h"
#include "server/core/codec/value_writer.h"
#include "server/geometry/cell.h"

namespace waystar::core {

inline constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kAnyCount = std::numeric_limits<std::uint32_t>::max();

// Memory grows with the items read, not with the stored count, which may be wrong.
template <typename Take>
auto ReadList(ValueReader& from, std::uint64_t max, Take take) {
  std::vector<decltype(take())> items;
  for (std::uint64_t left = from.Number(max); left > 0 && from.ok(); --left) {
    items.push_back(take());
  }
  return items;
}

template <typename Item, typename Put>
void WriteList(const std::vector<Item>& items, ValueWriter& to, Put put) {
  to.PutNumber(items.size());
  for (const Item& item : items) {
    put(item);
  }
}

// REQUIRES: the values of the enumeration are 0 to `last`.
template <typename Enum>
Enum ReadEnum(ValueReader& from, Enum last) {
  return static_cast<Enum>(from.Number(static_cast<std::uint64_t>(last)));
}

template <typename Enum>
void WriteEnum(Enum value, ValueWriter& to) {
  to.PutNumber(static_cast<std::uint64_t>(value));
}

inline std::int32_t ReadInt(ValueReader& from) {
  return static_cast<std::int32_t>(from.Signed(std::numeric_limits<std::int32_t>::min(),  //
                                               std::numeric_limits<std::int32_t>::max()));
}

}  // namespace waystar::core
