using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  using V1;

  /// <summary>A map of the client, by its name.</summary>
  public sealed class MapHandle {
    public Client Client { get; internal set; }
    public string Name { get; internal set; }

    /// <summary>Returns a query of this map, for streams and agents.</summary>
    public FindPathRequest Query(Location start, Location goal) =>
      new FindPathRequest { Map = Name, Start = start, Goals = { goal } };

    /// <param name="change">Sets what else the query says.</param>
    public Task<FindPathResponse> FindPathAsync(Location start, Location goal, Action<FindPathRequest> change = null,
      TimeSpan? timeout = null, CancellationToken cancel = default(CancellationToken)) {
      var query = Query(start, goal);
      change?.Invoke(query);
      return Client.CallAsync(PathService.FindPath, query, timeout, cancel);
    }

    /// <summary>Makes one new revision with all of these edits, or fails and changes nothing.</summary>
    public Task<UpdateMapResponse> UpdateAsync(params Edit[] edits) => UpdateAsync(edits, null);

    /// <param name="requestId">Makes a retry safe; by default a new one.</param>
    /// <param name="expected">If the map has another version, the update fails.</param>
    public Task<UpdateMapResponse> UpdateAsync(IEnumerable<Edit> edits, string requestId, Version expected = null,
      TimeSpan? timeout = null, CancellationToken cancel = default(CancellationToken)) =>
      Client.CallAsync(MapService.UpdateMap, new UpdateMapRequest {
        Map = Name,
        Edits = new List<Edit>(edits),
        RequestId = requestId ?? Guid.NewGuid().ToString("N"),
        // The server then knows a retry that comes too late.
        RequestTime = DateTime.UtcNow,
        ExpectedVersion = expected,
      }, timeout, cancel);

    /// <param name="speed">The cost that an agent may walk in a second.</param>
    public async Task<List<MoveJudgement>> CheckMovesAsync(IEnumerable<MoveToCheck> moves, double speed,
      TimeSpan? tolerance = null, TimeSpan? timeout = null, CancellationToken cancel = default(CancellationToken)) {
      var request = new CheckMovesRequest {
        Map = Name, Moves = new List<MoveToCheck>(moves), Speed = speed, TimeTolerance = tolerance,
      };
      return (await Client.CallAsync(PathService.CheckMoves, request, timeout, cancel)).Results;
    }

    /// <summary>
    /// Tells of each revision, at any server, until it is cancelled or fails for good. The first event is
    /// `watching`. After `resynchronize`, the caller reads the map again.
    /// </summary>
    public async Task WatchAsync(Action<WatchMapResponse> onEvent, bool withEdits = false, Version after = null,
        CancellationToken cancel = default(CancellationToken)) {
      var watch = new Watch(Client) {
        Request = new WatchMapRequest { Map = Name, After = after, WithEdits = withEdits }, OnEvent = onEvent,
      };
      using (cancel.Register(watch.Dispose)) {
        await watch.Run();
      }
    }

    sealed class Watch : LastingStream<WatchMapRequest, WatchMapResponse> {
      public WatchMapRequest Request;
      public Action<WatchMapResponse> OnEvent;
      bool hasBegun;
      // Of the present stream.
      bool hasEvents;

      public Watch(Client client) : base(client, MapService.WatchMap) {}

      internal override WatchMapRequest First() {
        hasEvents = false;
        return Request;
      }

      internal override void Take(WatchMapResponse message) {
        hasEvents = true;
        // With `after`, the revisions up to the one that the server has are still to come.
        Request.After = message.Commit?.Version ?? message.Resynchronize?.Version ??
          Request.After ?? message.Watching?.Version;
        if (message.Watching == null || !hasBegun) {
          hasBegun = true;
          OnEvent(message);
        }
      }

      // The map may be deleted or replaced: the next stream tells which.
      internal override bool Lose(WaystarError problem) =>
        (problem.Code == Code.NotFound ? hasEvents : problem.IsTemporary) ? true : throw problem;
    }
  }
}
