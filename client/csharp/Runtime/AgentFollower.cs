using System;
using System.Collections.Generic;
using System.Linq;

namespace Waystar {
  using V1;

  /// <summary>The newest state of an agent. Before the first one all is empty.</summary>
  public sealed class AgentPath {
    /// <summary>The newest answer to the agent's query. It stays while there is a problem.</summary>
    public FindPathResponse Answer { get; internal set; }
    /// <summary>Why there is no answer now, or null.</summary>
    public WaystarError Problem { get; internal set; }
    /// <summary>True while the server does not follow the agent: Problem is why.</summary>
    public bool HasEnded { get; internal set; }
    /// <summary>The version of the map that the state is for.</summary>
    public Version Version { get; internal set; }
  }

  /// <summary>
  /// Follows agents that walk: change them, call Flush once a tick, and take what is new. When a stream is
  /// lost, the follower opens another one, and puts all agents where they are, with the paths that they have.
  /// It puts an agent again, with a later Flush, that has ended because its map was replaced or is not loaded
  /// yet, or the server has no room. Any thread may call.
  /// </summary>
  public sealed class AgentFollower : LastingStream<FollowAgentsRequest, FollowAgentsResponse> {
    const int MostChanges = 10000;
    static readonly TimeSpan retryDelay = TimeSpan.FromSeconds(1);

    readonly FollowAgentsRequest settings;
    readonly Dictionary<ulong, Agent> agents = new Dictionary<ulong, Agent>();
    // The newest change of each agent that is not sent. It replaces those before.
    readonly Dictionary<ulong, AgentChange> changes = new Dictionary<ulong, AgentChange>();
    readonly Dictionary<string, MapProgress> progress = new Dictionary<string, MapProgress>();
    readonly HashSet<ulong> news = new HashSet<ulong>();
    ulong number;

    internal AgentFollower(Client client, FollowAgentsRequest settings) : base(client, PathService.FollowAgents) {
      this.settings = settings;
      _ = Run();
    }

    /// <summary>Null while a stream is open or may be opened; else what has ended the follower for good.</summary>
    public WaystarError Error { get; private set; }

    /// <summary>Follows an agent, or gives it another query.</summary>
    public void Put(ulong id, FindPathRequest query) {
      lock (agents) {
        Ask(id, query.Copy());
      }
    }

    /// <summary>Says where an agent is. Does nothing if it was not put.</summary>
    /// <param name="map">The map that it has come to through a portal; null if it is on the same as before.</param>
    public void MoveTo(ulong id, Location place, string map = null) {
      lock (agents) {
        if (!agents.TryGetValue(id, out var agent)) {
          return;
        }
        var query = agent.Query;
        query.Start = place;
        if (map != null && map != query.Map) {
          var goalMap = query.GoalMap.Length > 0 ? query.GoalMap : query.Map;
          query.GoalMap = goalMap == map ? "" : goalMap;
          query.Map = map;
          query.View = null;
          Ask(id, query);
        } else if (changes.TryGetValue(id, out var change) && change.Put != null) {
          PutAgain(id);
        } else if (!agent.Path.HasEnded || !agent.IsFollowed) {
          Change(id).At = place;
        }
      }
    }

    /// <summary>Sends an agent elsewhere. Does nothing if it was not put.</summary>
    public void SendTo(ulong id, Location goal) {
      lock (agents) {
        if (agents.TryGetValue(id, out var agent)) {
          agent.Query.Goals = new List<Location> { goal };
          Ask(id, agent.Query);
        }
      }
    }

    public void Remove(ulong id) {
      lock (agents) {
        if (agents.Remove(id)) {
          news.Remove(id);
          Change(id).Remove = new RemoveAgent();
        }
      }
    }

    /// <summary>
    /// Sends the changes, without waiting for that. While the server does not read, newer ones replace them.
    /// </summary>
    public void Flush() {
      lock (agents) {
        foreach (var each in agents.Where(each => each.Value.RetryAt <= Clock.Now)) {
          PutAgain(each.Key);
        }
      }
      Send();
    }

    /// <summary>Returns the agents whose state is new since the last call.</summary>
    public List<ulong> TakeNews() {
      lock (agents) {
        var result = news.ToList();
        news.Clear();
        return result;
      }
    }

    /// <summary>Returns the newest state of an agent, or null if it was not put.</summary>
    public AgentPath Find(ulong id) {
      lock (agents) {
        return agents.TryGetValue(id, out var agent) ? agent.Path : null;
      }
    }

    /// <summary>
    /// Returns the versions at which the paths of all agents on the map are known to be right and walkable,
    /// or null.
    /// </summary>
    public MapProgress ProgressOf(string map) {
      lock (agents) {
        var coversAll = agents.Values.All(each => each.IsFollowed || each.Path.HasEnded || each.Query.Map != map);
        return coversAll && progress.TryGetValue(map, out var found) ? found : null;
      }
    }

    AgentChange Change(ulong id) {
      var change = new AgentChange { Agent = id, Number = ++number };
      changes[id] = change;
      return change;
    }

    // Puts an agent with a query that is not that of its path.
    void Ask(ulong id, FindPathRequest query) {
      news.Remove(id);
      agents[id] = new Agent { Query = query };
      PutAgain(id);
    }

    // Puts an agent where it is, with the path that it has.
    void PutAgain(ulong id) {
      var agent = agents[id];
      var change = Change(id);
      // The query changes as the agent walks, and the change may be on its way then.
      change.Put = agent.Query.Copy();
      if (agent.Right != null) {
        var answer = agent.Path.Answer;
        change.Held = new HeldPath { Path = answer.Path, Cost = answer.Cost, Version = agent.Right };
      }
      agent.Asked = change.Number;
      agent.IsFollowed = false;
      agent.RetryAt = null;
    }

    internal override FollowAgentsRequest First() {
      lock (agents) {
        changes.Clear();
        foreach (var id in agents.Keys) {
          PutAgain(id);
        }
      }
      return settings;
    }

    internal override FollowAgentsRequest Next() {
      var message = new FollowAgentsRequest();
      var length = 0;
      lock (agents) {
        foreach (var change in changes.Values.Take(MostChanges).TakeWhile(each => length < MessageLength)) {
          // What is not put is small.
          var added = change.Put == null ? 0 : JsonWriter.Write(change).Length;
          if (added > MessageLength) {
            // The server searches for a path that is too long to be sent.
            change.Held = null;
          }
          length += added;
          message.Changes.Add(change);
        }
        message.Changes.ForEach(change => changes.Remove(change.Agent));
      }
      return message.Changes.Count > 0 ? message : null;
    }

    internal override void Take(FollowAgentsResponse message) {
      lock (agents) {
        foreach (var state in message.States) {
          if (agents.TryGetValue(state.Agent, out var agent) && state.Number >= agent.Asked) {
            Take(state, agent);
          }
        }
        message.Progress.ForEach(each => progress[each.Map] = each);
      }
    }

    void Take(AgentState state, Agent agent) {
      var wasRight = agent.Path.Problem == null;
      var problem = state.End ?? state.Problem;
      agent.IsFollowed = true;
      agent.Path = new AgentPath {
        Answer = state.Answer ?? agent.Path.Answer, Version = state.Version,
        Problem = problem, HasEnded = state.End != null,
      };
      if (state.Held != null && wasRight) {
        return;
      }
      if (state.Answer != null) {
        agent.Right = state.Answer.Outcome == Outcome.Found ? state.Version : null;
      } else if (problem != null && problem.Reason != ErrorReason.RevisionNotYet) {
        agent.Right = null;
      }
      if (problem?.Reason == ErrorReason.MapReplaced) {
        agent.RetryAt = Clock.Now;
      } else if (state.End != null && (problem.Code == Code.Unavailable || problem.Code == Code.ResourceExhausted)) {
        agent.RetryAt = Clock.Now + retryDelay;
      }
      news.Add(state.Agent);
    }

    internal override bool Lose(WaystarError problem) {
      lock (agents) {
        foreach (var agent in agents.Values) {
          if (agent.Right != null && agent.IsFollowed && progress.TryGetValue(agent.Query.Map, out var found) &&
              found.Version.Epoch == agent.Right.Epoch && found.Version.Revision > agent.Right.Revision) {
            agent.Right = found.Version;
          }
        }
        progress.Clear();
        Error = problem.IsTemporary ? null : problem;
        return problem.IsTemporary;
      }
    }

    sealed class Agent {
      // Its start is where the agent is.
      public FindPathRequest Query;
      // The number of the change that set the query. States for older queries are ignored.
      public ulong Asked;
      public AgentPath Path = new AgentPath();
      // The newest version at which the answer of Path was right, or null.
      public Version Right;
      // True once this stream has sent a state for the newest query: progress is about it too.
      public bool IsFollowed;
      // When to put the agent again, or null.
      public TimeSpan? RetryAt;
    }
  }
}
