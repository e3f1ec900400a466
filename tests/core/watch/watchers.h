// Watches of paths on one map that changes, and what is wrong with the answers that they have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/search/query.h"
#include "server/core/watch/kept_answer.h"

namespace waystar {

// Kind searches maps of one kind and judges answers the long way:
//
//   using Map, Query, Answer;
//   // What was found, with `result` as searches return it, which is valid until the next search.
//   struct Found { result; bool HasPath() const; bool LeadsToGoal() const; };
//   Found Find(const Map& map, const Query& query, const core::Budget& budget);
//   // As the answer's own, without portals to other maps.
//   bool IsOutdated(const Answer& answer, const Map& map, const Found& now);
//   // What is wrong with what was told, by what is found now; empty if nothing is.
//   std::string FaultOf(const Map& map, const Query& query, const Found& told, const Found& now);
template <typename Kind>
class Watchers {
 public:
  using Map = typename Kind::Map;
  using Query = typename Kind::Query;

  explicit Watchers(Map map) : snapshot_{.map = std::move(map)} {}

  const Map& map() const { return std::get<Map>(snapshot_.map); }
  // How many were told of the last change, and of all changes.
  std::size_t told() const { return told_; }
  std::size_t told_in_all() const { return told_in_all_; }
  // How many were searched for although they had a path to the goal and keep it.
  std::size_t needless() const { return needless_; }

  void Watch(const Query& query, const core::Budget& budget = {}) {
    State watch{.query = query, .budget = budget, .told = kind_.Find(map(), query, budget)};
    watch.answer = std::make_shared<Answer>(map(), query, watch.told.result);
    index_->Add(watches_.size(), watch.answer);
    watches_.push_back(std::move(watch));
  }

  // Returns who may be concerned. Those are searched for again, and told if that says so.
  std::vector<std::uint64_t> ChangeTo(Map next, const core::MapChanges& changes) {
    snapshot_.map = std::move(next);
    std::vector<std::uint64_t> ids;
    index_->FindAffected(changes, snapshot_, ids);
    for (std::uint64_t id = 0; id < watches_.size(); ++id) {
      EXPECT_EQ(watches_[id].answer->EffectOf(changes, snapshot_) != core::ChangeEffect::kNone,
                std::ranges::count(ids, id) == 1)
          << id;
    }
    told_ = 0;
    for (const std::uint64_t id : ids) {
      State& watch = watches_[id];
      auto now = kind_.Find(map(), watch.query, watch.budget);
      const bool is_news = kind_.IsOutdated(*watch.answer, map(), now);
      if (is_news || !watch.told.HasPath()) {
        watch.answer = std::make_shared<Answer>(map(), watch.query, now.result);
        index_->Remove(id);
        index_->Add(id, watch.answer);
      }
      if (is_news) {
        ++told_;
        watch.told = std::move(now);
      } else if (watch.told.LeadsToGoal()) {
        ++needless_;
      }
    }
    told_in_all_ += told_;
    return ids;
  }

  // What is wrong with the answers that the watchers have, judged by searching afresh; empty if nothing is.
  std::string Fault() {
    for (std::size_t id = 0; id < watches_.size(); ++id) {
      const State& watch = watches_[id];
      const auto now = kind_.Find(map(), watch.query, watch.budget);
      if (const std::string fault = kind_.FaultOf(map(), watch.query, watch.told, now); !fault.empty()) {
        return absl::StrCat("watch ", id, ": ", fault);
      }
    }
    return "";
  }

 private:
  using Answer = typename Kind::Answer;

  struct State {
    Query query;
    core::Budget budget;
    typename Kind::Found told;
    std::shared_ptr<const Answer> answer;
  };

  Kind kind_;
  core::MapSnapshot snapshot_;
  const std::unique_ptr<core::AnswerIndex> index_ = core::MakeAnswerIndex(snapshot_);
  std::vector<State> watches_;
  std::size_t told_ = 0;
  std::size_t told_in_all_ = 0;
  std::size_t needless_ = 0;
};

}  // namespace waystar
