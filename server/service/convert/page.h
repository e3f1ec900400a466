// Pages of listings.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/base/error.h"

namespace waystar::rpc {

inline constexpr int kMaxPageSize = 1000;

// Returns the maximum number of items of the requested page: its page_size, or 100 if that is 0, but at most
// `most`. `is_token` says whether the request's page_token, if set, belongs to this list; returns
// INVALID_ARGUMENT / BAD_VALUE if not. `item` is the name of an item in messages.
template <typename Request>
absl::StatusOr<std::size_t> PageSizeOf(const Request& request, absl::string_view item, bool is_token,
                                       int most = kMaxPageSize) {
  constexpr int kDefaultPageSize = 100;
  if (request.page_size() < 0) {
    return MakeError(ErrorReason::kBadValue, "page_size",
                     absl::StrCat("a page has at least 1 ", item, ", not ", request.page_size()));
  }
  if (!request.page_token().empty() && !is_token) {
    return MakeError(ErrorReason::kBadValue, "page_token", "this is not a token of an earlier page");
  }
  return static_cast<std::size_t>(request.page_size() == 0 ? kDefaultPageSize
                                                           : std::min(request.page_size(), most));
}

// Fills the repeated field of an answer with at most `size` items, while the answer takes at most
// `max_bytes`; the first item is always added.
template <typename Item>
class Page {
 public:
  Page(std::size_t size, std::size_t max_bytes, google::protobuf::RepeatedPtrField<Item>& items)
      : size_(size), max_bytes_(max_bytes), items_(items) {}

  // Adds the item that fill(item) writes. Returns false, and adds nothing, if the page is full.
  template <typename Fill>
  bool Add(Fill fill) {
    const auto count = static_cast<std::size_t>(items_.size());
    if (count == size_) {
      return false;
    }
    Item& item = *items_.Add();
    fill(item);
    bytes_ += item.ByteSizeLong() + kItemEnvelopeBytes;
    if (count > 0 && bytes_ > max_bytes_) {
      items_.RemoveLast();
      return false;
    }
    return true;
  }

 private:
  // Upper bounds on the overhead of an item in its message, and of the rest of the message.
  static constexpr std::size_t kItemEnvelopeBytes = 6;
  static constexpr std::size_t kRestBytes = 128;

  const std::size_t size_;
  const std::size_t max_bytes_;
  google::protobuf::RepeatedPtrField<Item>& items_;
  std::size_t bytes_ = kRestBytes;
};

}  // namespace waystar::rpc
