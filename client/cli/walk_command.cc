// `waystar walk`: an agent that walks while its map changes; `waystar agents`: all agents on a map.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/agent_follower.h"
#include "client/cli/arguments.h"
#include "client/cli/find_text.h"
#include "client/cli/message_text.h"
#include "client/cli/query_arguments.h"
#include "client/errors.h"
#include "google/protobuf/util/message_differencer.h"

namespace waystar::cli {
namespace {

constexpr std::uint64_t kAgent = 1;
constexpr double kMostPace = 1000.0;
// Seconds after which an agent that stands looks for news.
constexpr double kLookEvery = 0.05;

struct WalkArguments {
  v1::FindPathRequest query;
  // Steps per second; 0 for an agent that stands.
  double pace = 5.0;
};

// Returns the places of a path: its cells, nodes or corners.
std::vector<v1::Location> PlacesOf(const v1::Path& path) {
  std::vector<v1::Location> places;
  const auto add = [&]() -> v1::Location& { return places.emplace_back(); };
  for (const v1::Cell& cell : path.points()) {
    *add().mutable_cell() = cell;
  }
  for (const std::string& node : path.nodes()) {
    add().set_node(node);
  }
  if (places.empty()) {
    for (const v1::Position& position : path.positions()) {
      *add().mutable_position() = position;
    }
  }
  return places;
}

class Walk {
 public:
  Walk(const WalkArguments& arguments, Session& session)
      : arguments_(arguments), session_(session), follower_(session.client(), Settings()) {}

  ExitCode Run() {
    follower_.Put(kAgent, arguments_.query);
    follower_.Flush();
    const bool stands = arguments_.pace == 0.0;
    const std::chrono::duration<double> pause(stands ? kLookEvery : 1.0 / arguments_.pace);
    while (session_.io().out) {
      std::this_thread::sleep_for(pause);
      if (const absl::Status status = follower_.status(); !status.ok()) {
        return session_.Fail(status);
      }
      if (!follower_.TakeNews().empty()) {
        const AgentState state = *follower_.Find(kAgent);
        if (state.has_ended) {
          return session_.Fail(state.problem);
        }
        Print(state);
        Take(state);
      }
      if (stands) {
        continue;
      }
      if (next_ < places_.size()) {
        const auto entered = entered_.find(next_);
        follower_.MoveTo(kAgent, places_[next_++], entered == entered_.end() ? "" : entered->second);
        follower_.Flush();
        ++steps_;
      } else if (leads_to_goal_) {
        if (!session_.options().json) {
          session_.io().out << "Arrived after " << steps_ << (steps_ == 1 ? " step.\n" : " steps.\n");
        }
        return ExitCode::kOk;
      }
    }
    return ExitCode::kOk;
  }

 private:
  using AgentState = client::AgentPath;

  static v1::FollowAgentsRequest Settings() {
    v1::FollowAgentsRequest settings;
    // States go out at once.
    settings.mutable_at_most_every();
    return settings;
  }

  void Print(const AgentState& state) {
    std::ostream& out = session_.io().out;
    if (!state.problem.ok()) {
      if (session_.options().json) {
        out << ToJson(client::ToMessage(state.problem), /*pretty=*/false);
      } else {
        out << "No path at revision " << state.version.revision() << ": " << state.problem.message() << "\n";
      }
    } else if (session_.options().json) {
      out << ToJson(*state.answer, /*pretty=*/false);
    } else {
      out << FactsText(arguments_.query, *state.answer);
    }
    out << std::flush;
  }

  void Take(const AgentState& state) {
    const std::optional<v1::Location> here =
        next_ > 0 && next_ <= places_.size() ? std::optional(places_[next_ - 1]) : std::nullopt;
    places_.clear();
    entered_.clear();
    next_ = 0;
    leads_to_goal_ = false;
    if (!state.problem.ok()) {
      return;
    }
    places_ = PlacesOf(state.answer->path());
    for (const v1::PortalCrossing& crossing : state.answer->path().crossings()) {
      if (!crossing.map().empty()) {
        entered_[static_cast<std::size_t>(crossing.index())] = crossing.map();
      }
    }
    leads_to_goal_ = state.answer->outcome() == v1::OUTCOME_FOUND;
    // The agent may have walked on meanwhile. It is at the first place otherwise.
    const auto is_here = [&](const v1::Location& place) {
      return here && google::protobuf::util::MessageDifferencer::Equals(place, *here);
    };
    const auto at = std::ranges::find_if(places_, is_here);
    next_ = at == places_.end() ? std::min<std::size_t>(1, places_.size())
                                : static_cast<std::size_t>(at - places_.begin()) + 1;
  }

  const WalkArguments& arguments_;
  Session& session_;
  client::AgentFollower follower_;
  std::vector<v1::Location> places_;
  // The maps that the path enters, by the indices of their first places.
  std::map<std::size_t, std::string> entered_;
  // Index of the place that the agent steps on next.
  std::size_t next_ = 0;
  bool leads_to_goal_ = false;
  std::uint64_t steps_ = 0;
};

ExitCode ListAgents(const v1::ListAgentsRequest& request, Session& session) {
  const auto all = AllPages(session.client(), request, &client::Client::ListAgents);
  return session.Answer(all, [&](v1::ListAgentsResponse answer) {
    for (v1::FollowedAgent& agent : *answer.mutable_agents()) {
      agent.clear_path();
      agent.clear_arrivals();
    }
    session.PrintTable(TableOf(answer.agents()), /*names_only=*/false);
  });
}

ExitCode RunWalk(const WalkArguments& arguments, Session& session) { return Walk(arguments, session).Run(); }

}  // namespace

void AddAgentsCommand(CLI::App& parent, Session& session) {
  const auto [command, request] = AddCommand(
      parent, session, "agents", "Lists the agents on a map that clients follow", &ListAgents,
      "Where each is, where it goes and what it does; --json also has what is left of its path.\n\n"
      "Examples:\n"
      "  waystar agents arena\n"
      "  waystar agents arena --json | jq '.agents[].path'\n");
  AddMap(command, request);
}

void AddWalkCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "walk",
      "An agent walks to the goal, and gets another path when a change blocks its own or offers a cheaper "
      "one",
      &RunWalk,
      "Two lines for each path: what was found, and the path. Ends when the agent has arrived. Block a\n"
      "cell before it in another terminal. Without a path, the agent waits until a change opens\n"
      "one. An agent that stands shows how its path changes until Ctrl-C. With --json, one object a line.\n\n"
      "Examples:\n"
      "  waystar walk arena 1,1 60,40\n"
      "  waystar walk islands harbour lighthouse --pace 0\n");
  AddQuery(command, arguments.query);
  AddNumber(command, "--pace", arguments.pace, 0, kMostPace,
            "Steps per second, from one place of the path to the next; with 0 the agent stands")
      ->capture_default_str();
}

}  // namespace waystar::cli
