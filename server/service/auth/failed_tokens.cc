#include "server/service/auth/failed_tokens.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace waystar::rpc {
namespace {

constexpr absl::Duration kMinute = absl::Minutes(1);
constexpr std::size_t kNetworkBytes = 8;

// Returns the network of an address such as "2001:db8::1".
std::string NetworkOfIpv6(const std::string& address) {
  in6_addr bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), &bytes) != 1) {
    return address;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&bytes)) {
    ::inet_ntop(AF_INET, &bytes.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  std::fill(bytes.s6_addr + kNetworkBytes, std::end(bytes.s6_addr), 0);
  ::inet_ntop(AF_INET6, &bytes, text.data(), text.size());
  return absl::StrCat(text.data(), "/64");
}

}  // namespace

std::string NetworkOf(absl::string_view peer) {
  if (absl::ConsumePrefix(&peer, "http:")) {
    return std::string(peer);
  }
  if (absl::ConsumePrefix(&peer, "ipv4:")) {
    return std::string(peer.substr(0, peer.rfind(':')));
  }
  if (absl::ConsumePrefix(&peer, "ipv6:")) {
    // IPv6 in brackets, which may be escaped; a zone may follow the address.
    if (!absl::ConsumePrefix(&peer, "%5B")) {
      absl::ConsumePrefix(&peer, "[");
    }
    return NetworkOfIpv6(std::string(peer.substr(0, peer.find_first_of("%]"))));
  }
  return std::string(peer.substr(0, peer.find(':')));
}

std::uint16_t PortOf(absl::string_view peer) {
  int port = 0;
  const bool is_number = absl::SimpleAtoi(peer.substr(peer.rfind(':') + 1), &port);
  return is_number ? static_cast<std::uint16_t>(port) : 0;
}

FailedTokens::Verdict FailedTokens::Count(absl::string_view peer) {
  const absl::Time now = clock_.Now();
  const std::uint64_t connection = absl::HashOf(peer);
  const bool is_accepted = IsAccepted(connection);
  int of_network = 0;
  bool closes = false;
  {
    MutexLock lock(mutex_);
    of_network = CountIn(networks_, absl::HashOf(NetworkOf(peer)), now).failures;
    if (!is_accepted) {
      Entry& entry = CountIn(connections_, connection, now);
      closes = entry.failures > kOfConnection && entry.failures % kOfConnection == 1;
      if (closes) {
        entry.turned_out_until = now + kTurnedOut;
        has_turned_out_.store(true, std::memory_order_relaxed);
      }
    }
  }
  return {.logged = ToLog(of_network), .closes_connection = closes};
}

bool FailedTokens::IsTurnedOut(absl::string_view peer) const {
  const std::uint64_t connection = absl::HashOf(peer);
  if (!has_turned_out_.load(std::memory_order_relaxed) || IsAccepted(connection)) {
    return false;
  }
  MutexLock lock(mutex_);
  return std::ranges::any_of(connections_[connection % kSets], [&](const Entry& entry) {
    return entry.key == connection && clock_.Now() < entry.turned_out_until;
  });
}

void FailedTokens::NoteAccepted(absl::string_view peer) {
  const std::uint64_t connection = absl::HashOf(peer);
  if (!IsAccepted(connection)) {
    Accept(connection);
    Accept(absl::HashOf(NetworkOf(peer)));
  }
}

bool FailedTokens::KnowsNetworkOf(absl::string_view peer) const {
  return IsAccepted(absl::HashOf(NetworkOf(peer)));
}

std::optional<FailedTokens::Logged> FailedTokens::ToLog(int failures) {
  if (failures > kLogged) {
    limit_.LeaveOut();
    return std::nullopt;
  }
  const std::optional<std::uint64_t> left_out = limit_.Admit();
  if (!left_out.has_value()) {
    return std::nullopt;
  }
  return Logged{.failures = failures, .left_out = *left_out};
}

FailedTokens::Entry& FailedTokens::CountIn(Table& table, std::uint64_t key, absl::Time now) {
  const auto failures_of = [now](const Entry& entry) {
    return now - entry.minute_begin < kMinute ? entry.failures : 0;
  };
  std::array<Entry, kWays>& set = table[key % kSets];
  auto entry = std::find_if(set.begin(), set.end(), [&](const Entry& e) { return e.key == key; });
  if (entry == set.end()) {
    entry = std::min_element(set.begin(), set.end(),
                             [&](const Entry& a, const Entry& b) { return failures_of(a) < failures_of(b); });
    *entry = {.key = key};
  }
  if (now - entry->minute_begin >= kMinute) {
    entry->minute_begin = now;
    entry->failures = 0;
  }
  ++entry->failures;
  return *entry;
}

}  // namespace waystar::rpc
