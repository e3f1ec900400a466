// Page of a list: how many items a request may ask for, and how many fit into one answer.
#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_field.h"
#include "server/base/error.h"

namespace waystar::rpc {

inline constexpr int kMaxPageSize = 1000;

// Returns how many items the page that a request asks for has at most: its page_size, or 100 if that is 0,
// and no more than `most`. `is_token` says whether the request's page_token, if it has one, is one of this
// list; returns INVALID_ARGUMENT / BAD_VALUE if not. `item` is what messages call an item.
template <typename Request>
absl::StatusOr<std::size_t> PageSizeOf(const Request& request, absl::string_view item, bool is_token,
                                       int most = kMaxPageSize) {
  constexpr int kDefaultPageSize = 100;
  if (request.page_size() < 0) {
    return MakeError(ErrorReason::kBadValue, "page_size",
                     absl::StrCat("a page has at least 1 ", item, ", not ", request.page_size()));
  }
  if (!request.page_token().empty() && !is_token) {
    return MakeError(ErrorReason::kBadValue, "page_token", "this is no token of an earlier page");
  }
  return static_cast<std::size_t>(request.page_size() == 0 ? kDefaultPageSize
                                                           : std::min(request.page_size(), most));
}

// Fills the repeated field of an answer with at most `size` items, as long as the answer takes no more than
// `max_bytes`; the first item is added whatever it takes.
template <typename Item>
class Page {
 public:
  Page(std::size_t size, std::size_t max_bytes, google::protobuf::RepeatedPtrField<Item>& items)
      : size_(size), max_bytes_(max_bytes), items_(items) {}

  // Adds what fill(item) writes. Returns false, and adds nothing, if the page is full.
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
  // The most that an item takes beside itself in its message, and that the rest of the message takes.
  static constexpr std::size_t kItemEnvelopeBytes = 6;
  static constexpr std::size_t kRestBytes = 128;

  const std::size_t size_;
  const std::size_t max_bytes_;
  google::protobuf::RepeatedPtrField<Item>& items_;
  std::size_t bytes_ = kRestBytes;
};

}  // namespace waystar::rpc
