using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  using V1;

  public sealed class ClientOptions {
    /// <summary>
    /// The address of the server's gateway, or those of several servers with the same maps, with commas
    /// between. Several servers take turns, and changes are refused: make them at each by its own address.
    /// </summary>
    public string Target { get; set; } = "http://localhost:8080";

    /// <summary>How long a call may take in all, retries included, unless it says otherwise.</summary>
    public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Sent with each call, but never unencrypted to another machine.</summary>
    public string Token { get; set; } = "";

    /// <summary>By default UnityTransport in Unity, and elsewhere HttpTransport. The client disposes of it.</summary>
    public ITransport Transport { get; set; }
  }

  /// <summary>A method of a service. The generated classes PathService, MapService and so on have them all.</summary>
  public sealed class Method<TRequest, TResponse> {
    internal Method(string path, Func<JsonReader, TResponse> read, bool onlyReads) {
      Path = path;
      Read = read;
      OnlyReads = onlyReads;
    }

    public string Path { get; }
    public Func<JsonReader, TResponse> Read { get; }
    public bool OnlyReads { get; }
  }

  /// <summary>
  /// A Waystar server, or several with the same maps. One client is enough for a program. Calls fail with a
  /// WaystarError. Any thread may make them; with UnityTransport only the main thread.
  /// </summary>
  public sealed class Client : IDisposable {
    const int MaxAttempts = 4;

    readonly ClientOptions options;
    readonly Servers servers;
    readonly RetryBudget budget = new RetryBudget();
    readonly OwnWrites ownWrites = new OwnWrites();
    readonly CancellationTokenSource disposal = new CancellationTokenSource();

    public Client(ClientOptions options) {
      this.options = options;
      servers = new Servers(options.Target, server => _ = Check(server));
      if (options.Token.Any(c => c <= ' ' || c > '~')) {
        throw new ArgumentException("the token has a character that is not visible ASCII");
      }
      if (options.Token.Length > 0 && !servers.AreSafe) {
        throw new ArgumentException($"a token is not sent to {options.Target} unencrypted: use https");
      }
#if UNITY_2019_4_OR_NEWER
      Transport = options.Transport ?? new UnityTransport();
#else
      Transport = options.Transport ?? new HttpTransport();
#endif
    }

    internal ITransport Transport { get; }
    internal TimeSpan Timeout => options.Timeout;

    /// <summary>Ends all streams and watches.</summary>
    public void Dispose() {
      disposal.Cancel();
      Transport.Dispose();
    }

    public MapHandle Map(string name) => new MapHandle(this, name);

    /// <summary>Makes any call that has one answer.</summary>
    public async Task<TResponse> CallAsync<TRequest, TResponse>(Method<TRequest, TResponse> method, TRequest request,
      TimeSpan? timeout = null, CancellationToken cancel = default(CancellationToken))
      where TRequest : class, IMessage {
      var end = Clock.Now + (timeout ?? options.Timeout);
      CheckTarget(!method.OnlyReads);
      var query = request as IQuery;
      var least = query != null && query.View?.LeastVersion == null
        ? ownWrites.Of(query.Map) : null;
      if (least != null) {
        var own = query.Copy();
        own.View = (query.View ?? new View()).Copy();
        own.View.LeastVersion = least;
        try {
          return await Repeat(method, (TRequest)own, end, true, cancel);
        } catch (WaystarError error) when (error.Reason == ErrorReason.MapReplaced) {
          ownWrites.Forget(query.Map, least.Epoch);
        }
      }
      var update = request as UpdateMapRequest;
      if (!string.IsNullOrEmpty(update?.RequestId) && update.RequestTime == null) {
        // The server then knows a retry that comes too late.
        update = update.Copy();
        update.RequestTime = DateTime.UtcNow;
        request = (TRequest)(object)update;
      }
      var create = request as CreateMapRequest;
      var hasId = !string.IsNullOrEmpty(update?.RequestId) || !string.IsNullOrEmpty(create?.RequestId);
      object response = await Repeat(method, request, end, method.OnlyReads || hasId, cancel);
      if (response is UpdateMapResponse updated) {
        NoteChange(update.Map, updated.Version);
      } else if (response is CreateMapResponse created) {
        NoteChange(create.Map, created.Info.Version);
      } else if (request is DeleteMapRequest delete) {
        ownWrites.Forget(delete.Map);
      }
      return (TResponse)response;
    }

    /// <summary>
    /// Opens any call that has a stream of answers. `first` may be null if the call has a stream of messages.
    /// Such a stream goes on until the caller disposes of it, or for `timeout`.
    /// </summary>
    public async Task<MessageStream<TRequest, TResponse>> OpenAsync<TRequest, TResponse>(
      Method<TRequest, TResponse> method, TRequest first, TimeSpan? timeout = null,
      CancellationToken cancel = default(CancellationToken)) where TRequest : class, IMessage where TResponse : class {
      CheckTarget(ReferenceEquals(method, MapService.StreamUpdates) || ReferenceEquals(method, MapService.ImportMap));
      var server = servers.Next();
      var links = CancellationTokenSource.CreateLinkedTokenSource(cancel, disposal.Token);
      var stream = new MessageStream<TRequest, TResponse>(this, server.Url + method.Path, method.Read, links);
      try {
        await stream.Open(first, timeout);
        server.Succeed();
        return stream;
      } catch (Exception problem) {
        stream.Dispose();
        NoteFailure(server, problem as WaystarError);
        throw;
      }
    }

    /// <summary>Opens a stream for many queries.</summary>
    public PathStream StreamPaths() => new PathStream(this);

    /// <param name="settings">AtMostEvery, OffPath and CheaperEvery, if they are not to be the defaults.</param>
    public AgentFollower FollowAgents(FollowAgentsRequest settings = null) =>
      new AgentFollower(this, settings ?? new FollowAgentsRequest());

    /// <summary>Makes later queries see a change that another client has made.</summary>
    public void NoteChange(string map, Version version) => ownWrites.Note(map, version);

    internal Dictionary<string, string> Headers() {
      var headers = new Dictionary<string, string>();
      if (options.Token.Length > 0) {
        headers["Authorization"] = "Bearer " + options.Token;
      }
      return headers;
    }

    // A change would reach one of several servers alone.
    void CheckTarget(bool isChange) {
      if (isChange && servers.AreMany) {
        throw new WaystarError(Code.FailedPrecondition,
          $"{options.Target} are several servers: make a change at each of them by its own address");
      }
    }

    async Task<TResponse> Repeat<TRequest, TResponse>(Method<TRequest, TResponse> method, TRequest request,
      TimeSpan end, bool mayRepeat, CancellationToken cancel) where TRequest : class, IMessage {
      var body = JsonWriter.Write(request);
      for (var attempt = 1; ; ++attempt) {
        TimeSpan delay;
        var server = servers.Next();
        try {
          var text = await Post(server.Url + method.Path, body, end, cancel);
          var response = method.Read(new JsonReader(text));
          server.Succeed();
          budget.Succeed();
          return response;
        } catch (FormatException problem) {
          throw new WaystarError(Code.Internal, "the answer cannot be read: " + problem.Message, problem);
        } catch (WaystarError error) {
          NoteFailure(server, error);
          var mayPass = error.Code == Code.Unavailable || error.Code == Code.Cancelled ||
            error.Code == Code.ResourceExhausted && error.RetryDelay > TimeSpan.Zero;
          delay = budget.DelayAfter(error, attempt);
          if (!mayRepeat || !mayPass || !budget.Fail() || attempt == MaxAttempts ||
            Clock.Now + delay >= end) {
            throw;
          }
        }
        await Transport.Delay(delay, cancel);
      }
    }

    async Task<string> Post(string url, string body, TimeSpan end, CancellationToken cancel) {
      var left = end - Clock.Now;
      var headers = Headers();
      headers["Waystar-Timeout"] = Math.Max(Math.Ceiling(left.TotalMilliseconds), 1) + "ms";
      using (var answer = await Transport.Post(url, headers, body, false, left, cancel)) {
        var text = await answer.ReadAll(end, cancel);
        return answer.Status == 200 ? text : throw WaystarError.OfAnswer(answer.Status, text);
      }
    }

    async Task Check(Server server) {
      try {
        var text = await Post(server.Url + "/grpc.health.v1.Health/Check", "{\"service\":\"waystar.v1.PathService\"}",
          Clock.Now + TimeSpan.FromSeconds(2), disposal.Token);
        server.IsServing = text.Contains("\"SERVING\"");
      } catch (WaystarError error) {
        NoteFailure(server, error);
      } catch (OperationCanceledException) {
        // The client is gone.
      }
    }

    static void NoteFailure(Server server, WaystarError error) {
      if (error?.Code == Code.Unavailable) {
        server.Fail();
      }
    }
  }

  /// <summary>Ends retries while most calls fail, and says how long to wait before one.</summary>
  sealed class RetryBudget {
    const int Full = 100000;
    readonly Random random = new Random();
    int left = Full;

    public bool Fail() {
      lock (random) {
        left = Math.Max(left - 1000, 0);
        return left >= Full / 2;
      }
    }

    public void Succeed() {
      lock (random) {
        left = Math.Min(left + 100, Full);
      }
    }

    // Never sooner than the server asks; what many clients do at once is spread over half as much again.
    public TimeSpan DelayAfter(WaystarError error, int attempt) {
      var asked = error.RetryDelay.TotalMilliseconds;
      var delay = asked > 0 ? asked * attempt : Math.Min(50 * Math.Pow(3, attempt - 1), 1000);
      lock (random) {
        return TimeSpan.FromMilliseconds(delay * (1 + random.NextDouble() / 2));
      }
    }
  }

  /// <summary>Remembers the versions that changes have led maps to: of the maps that were changed last.</summary>
  sealed class OwnWrites {
    const int MostMaps = 1024;
    readonly Dictionary<string, Version> versions = new Dictionary<string, Version>();
    // The map that was changed last is the last.
    readonly List<string> order = new List<string>();

    public Version Of(string map) {
      lock (order) {
        return versions.TryGetValue(map, out var version) ? version : null;
      }
    }

    public void Note(string map, Version version) {
      lock (order) {
        if (versions.TryGetValue(map, out var known) && known.Epoch == version.Epoch &&
            known.Revision > version.Revision) {
          return;
        }
        order.Remove(map);
        order.Add(map);
        versions[map] = version;
        if (order.Count > MostMaps) {
          versions.Remove(order[0]);
          order.RemoveAt(0);
        }
      }
    }

    /// <summary>Forgets a map; given an epoch, unless a change has led it to another one since.</summary>
    public void Forget(string map, ulong epoch = 0) {
      lock (order) {
        if (versions.TryGetValue(map, out var known) && (epoch == 0 || known.Epoch == epoch)) {
          versions.Remove(map);
          order.Remove(map);
        }
      }
    }
  }
}
