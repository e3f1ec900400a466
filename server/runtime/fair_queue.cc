#include "server/runtime/fair_queue.h"

namespace waystar::runtime {
namespace {

// Weight of one job in the moving averages.
constexpr double kCostWeight = 1.0 / 8;

double Smoothed(double before, double now) { return before + (now - before) * kCostWeight; }

}  // namespace

void FairQueue::Push(const Flow& flow, const Entry& entry) {
  if (accounts_.size() >= forget_at_) {
    ForgetSettled();
  }
  Accounts::value_type& owner = *accounts_.try_emplace(flow.client).first;
  Account& account = owner.second;
  if (account.size == 0) {
    account.due = std::max(account.due, now_);
    TakeTurn(owner);
  }
  auto map = std::ranges::find(account.ring, flow.map, &MapLine::map);
  if (map == account.ring.end()) {
    map = account.ring.insert(map, MapLine{.map = flow.map, .entries = {}});
  }
  map->entries.push_back(entry);
  ++account.size;
  ++size_;
}

FairQueue::Popped FairQueue::Pop(std::uint64_t client) {
  Accounts::value_type& owner = *accounts_.find(client);
  Account& account = owner.second;
  // Virtual time advances only with jobs that leave in turn.
  if (client == NextClient()) {
    now_ = account.due;
  }
  order_.erase(TurnOf(owner));
  const double cost = CostOf(account);
  account.due += cost;
  const auto map = account.ring.begin();
  const Popped popped{.entry = map->entries.front(), .client = owner.first, .charged = cost};
  map->entries.pop_front();
  account.ring.splice(account.ring.end(), account.ring, map);
  if (map->entries.empty()) {
    account.ring.erase(map);
  }
  --size_;
  if (--account.size > 0) {
    TakeTurn(owner);
  }
  return popped;
}

void FairQueue::ChargeSoFar(Popped& popped, std::chrono::nanoseconds took) {
  const auto cost = static_cast<double>(took.count());
  if (cost > popped.charged) {
    Charge(popped.client, cost - popped.charged);
    popped.charged = cost;
  }
}

void FairQueue::Settle(const Popped& popped, std::chrono::nanoseconds took) {
  const double cost = std::max(1.0, static_cast<double>(took.count()));
  typical_ = Smoothed(typical_, cost);
  // The account may have been forgotten meanwhile.
  const auto [owner, is_new] = accounts_.try_emplace(popped.client, Account{.due = now_});
  double& typical = owner->second.typical;
  typical = typical > 0 ? Smoothed(typical, cost) : cost;
  Charge(popped.client, cost - popped.charged);
}

void FairQueue::Forgive(const Popped& popped) { Charge(popped.client, -popped.charged); }

void FairQueue::Charge(std::uint64_t client, double more) {
  const auto owner = accounts_.find(client);
  if (owner == accounts_.end()) {
    return;
  }
  if (owner->second.size > 0) {
    order_.erase(TurnOf(*owner));
    owner->second.due += more;
    order_.insert(TurnOf(*owner));
  } else {
    owner->second.due += more;
  }
}

double FairQueue::DueOf(std::uint64_t client) const {
  const auto owner = accounts_.find(client);
  return owner == accounts_.end() ? now_ : std::max(owner->second.due, now_);
}

double FairQueue::CostOf(std::uint64_t client) const {
  const auto owner = accounts_.find(client);
  return owner == accounts_.end() ? typical_ : CostOf(owner->second);
}

bool FairQueue::HasJobs(std::uint64_t client) const {
  const auto owner = accounts_.find(client);
  return owner != accounts_.end() && owner->second.size > 0;
}

double FairQueue::DueOfNext(std::uint64_t client) const {
  const auto owner = accounts_.find(client);
  if (owner == accounts_.end()) {
    return now_;
  }
  const Account& account = owner->second;
  return std::max(account.due, now_) + static_cast<double>(account.size) * CostOf(account);
}

std::size_t FairQueue::AheadOf(const Flow& flow) const {
  std::size_t own_turns = 0;
  double due = now_;
  if (const auto own = accounts_.find(flow.client); own != accounts_.end()) {
    const Account& account = own->second;
    const auto line = std::ranges::find(account.ring, flow.map, &MapLine::map);
    const std::size_t in_line = line == account.ring.end() ? 0 : line->entries.size();
    for (const MapLine& map : account.ring) {
      own_turns += std::min(map.entries.size(), map.map == flow.map ? in_line : in_line + 1);
    }
    due = std::max(account.due, now_) + static_cast<double>(own_turns) * CostOf(account);
  }
  std::size_t ahead = own_turns;
  for (const Turn& turn : order_) {
    if (turn.due > due) {
      break;
    }
    if (turn.client != flow.client) {
      const Account& account = accounts_.find(turn.client)->second;
      const double turns = (due - turn.due) / CostOf(account) + 1;
      ahead += turns >= static_cast<double>(account.size) ? account.size : static_cast<std::size_t>(turns);
    }
  }
  return ahead;
}

Job* FairQueue::DropFromGreediest(std::uint64_t newcomer) {
  double latest = DueOfNext(newcomer);
  Accounts::value_type* greediest = nullptr;
  for (const Turn& turn : order_) {
    Accounts::value_type& owner = *accounts_.find(turn.client);
    const Account& account = owner.second;
    const double last = account.due + static_cast<double>(account.size - 1) * CostOf(account);
    if (last > latest) {
      latest = last;
      greediest = &owner;
    }
  }
  if (greediest == nullptr) {
    return nullptr;
  }
  Account& account = greediest->second;
  const auto map = std::max_element(
      account.ring.begin(), account.ring.end(),
      [](const MapLine& a, const MapLine& b) { return a.entries.size() < b.entries.size(); });
  if (map->entries.back().is_owed) {
    return nullptr;
  }
  Job* const job = map->entries.back().job;
  map->entries.pop_back();
  if (map->entries.empty()) {
    account.ring.erase(map);
  }
  --size_;
  if (--account.size == 0) {
    order_.erase(TurnOf(*greediest));
  }
  return job;
}

void FairQueue::TakeTurn(Accounts::value_type& account) {
  account.second.order = ++turns_;
  order_.insert(TurnOf(account));
}

// A client without jobs that had at most its share is equivalent to a new one.
void FairQueue::ForgetSettled() {
  absl::erase_if(accounts_,
                 [this](const auto& owner) { return owner.second.size == 0 && owner.second.due <= now_; });
  forget_at_ = 2 * accounts_.size() + 64;
}

}  // namespace waystar::runtime
