#include "server/core/search/blockers.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

absl::Status CheckPrice(double price, absl::string_view field) {
  // Negated so that NaN fails.
  if (!(price >= 0.0 && price <= BlockerPrices::kMax)) {
    return MakeError(
        ErrorReason::kBadValue, field,
        absl::StrCat("a price must be 0 to ", static_cast<int>(BlockerPrices::kMax), ", got ", price));
  }
  return absl::OkStatus();
}

}  // namespace

void SortEntries(std::vector<Blocker>& entries, std::size_t begin) {
  std::sort(
      entries.begin() + static_cast<std::ptrdiff_t>(begin), entries.end(),
      [](const Blocker& a, const Blocker& b) { return a.kind != b.kind ? a.kind < b.kind : a.id < b.id; });
}

absl::Status CheckEntries(const std::vector<Blocker>& entries) {
  constexpr std::size_t kMost = 10'000;
  return entries.size() <= kMost ? absl::OkStatus()
                                 : MakeError(ErrorReason::kResponseTooLarge, "path",
                                             absl::StrCat("the path enters more than ", kMost, " blockers"));
}

double BlockerPrices::OfObstacle(absl::string_view id) const {
  const Entry* best = nullptr;
  for (const Entry& entry : listed) {
    if (absl::StartsWith(id, entry.id_prefix) &&
        (best == nullptr || entry.id_prefix.size() > best->id_prefix.size())) {
      best = &entry;
    }
  }
  return best == nullptr ? price : best->price;
}

absl::Status CheckPrices(const BlockerPrices& prices) {
  WAYSTAR_RETURN_IF_ERROR(CheckPrice(prices.price, "price"));
  WAYSTAR_RETURN_IF_ERROR(CheckCount("prices", prices.listed.size(), BlockerPrices::kMostListed));
  for (std::size_t i = 0; i < prices.listed.size(); ++i) {
    const double price = prices.listed[i].price;
    if (!CheckPrice(price, "").ok()) {
      return CheckPrice(price, absl::StrCat(IndexedField("prices", i), ".price"));
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
