using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  using V1;

  /// <summary>
  /// Queries that share a stream: those that are asked while a message is on its way go together. If the
  /// stream is lost, they are asked again on another one, until their time has passed.
  /// </summary>
  public sealed class PathStream : LastingStream<StreamFindPathRequest, StreamFindPathResponse> {
    const int MostQueries = 1000;

    // What has no answer yet, by id.
    readonly Dictionary<ulong, Asked> asked = new Dictionary<ulong, Asked>();
    readonly Queue<ulong> unsent = new Queue<ulong>();
    ulong lastId;
    bool isRunning;

    internal PathStream(Client client) : base(client, PathService.StreamFindPath) {}

    public async Task<FindPathResponse> FindPathAsync(FindPathRequest query, TimeSpan? timeout = null) {
      var each = new Asked();
      lock (asked) {
        each.Query = new StreamedQuery { Id = ++lastId, Query = query };
        asked[lastId] = each;
        unsent.Enqueue(lastId);
        if (!isRunning) {
          isRunning = true;
          _ = Answer();
        }
      }
      Send();
      try {
        return await Client.Within(timeout ?? Client.Timeout, CancellationToken.None, stop => each.Task);
      } finally {
        lock (asked) {
          asked.Remove(each.Query.Id);
        }
      }
    }

    async Task Answer() {
      try {
        await Run();
      } catch (OperationCanceledException) {
        EndAll(new WaystarError(Code.Cancelled, "the stream or the client was disposed of"));
      }
    }

    internal override StreamFindPathRequest Next() {
      var message = new StreamFindPathRequest();
      var length = 0;
      lock (asked) {
        while (unsent.Count > 0 && message.Queries.Count < MostQueries && length < MessageLength) {
          if (asked.TryGetValue(unsent.Dequeue(), out var each)) {
            length += JsonWriter.Write(each.Query).Length;
            message.Queries.Add(each.Query);
          }
        }
      }
      return message.Queries.Count > 0 ? message : null;
    }

    internal override void Take(StreamFindPathResponse message) {
      lock (asked) {
        foreach (var answer in message.Answers.Where(answer => asked.ContainsKey(answer.Id))) {
          End(asked[answer.Id], answer.Answer, answer.Problem);
        }
      }
    }

    internal override bool Lose(WaystarError problem) {
      lock (asked) {
        if (!problem.IsTemporary) {
          EndAll(problem);
        }
        unsent.Clear();
        foreach (var id in asked.Keys) {
          unsent.Enqueue(id);
        }
        return isRunning = asked.Count > 0;
      }
    }

    void EndAll(WaystarError problem) {
      lock (asked) {
        isRunning = false;
        foreach (var each in asked.Values.ToList()) {
          End(each, null, problem);
        }
      }
    }

    // With `asked` locked.
    void End(Asked each, FindPathResponse answer, WaystarError problem) {
      asked.Remove(each.Query.Id);
      if (problem == null) {
        each.TrySetResult(answer);
      } else {
        each.TrySetException(problem);
      }
    }

    sealed class Asked : TaskCompletionSource<FindPathResponse> {
      public StreamedQuery Query;

      public Asked() : base(TaskCreationOptions.RunContinuationsAsynchronously) {}
    }
  }
}
