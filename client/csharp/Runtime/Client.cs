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

    /// <summary>Whether calls that may be repeated wait for a server that is away, within their timeout.</summary>
    public bool WaitForReady { get; set; }

    /// <summary>By default UnityTransport in Unity, and elsewhere HttpTransport. The client disposes of it.</summary>
    public ITransport Transport { get; set; }
  }

  /// <summary>A method of a service. The generated classes PathService, MapService and so on have them all.</summary>
  public sealed class Method<TRequest, TResponse> {
    public string Path { get; internal set; }
    public Func<JsonReader, TResponse> Read { get; internal set; }
    public bool OnlyReads { get; internal set; }
  }

  /// <summary>
  /// A Waystar server, or several with the same maps. One client is enough for a program. Calls fail with a
  /// WaystarError. Any thread may make them; with UnityTransport only the main thread.
  /// </summary>
  public sealed class Client : IDisposable {
    const int MaxAttempts = 4;

    readonly ClientOptions options;
    readonly Servers servers;
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
    internal RetryBudget Budget { get; } = new RetryBudget();
    internal TimeSpan Timeout => options.Timeout;

    /// <summary>Ends all streams and watches.</summary>
    public void Dispose() {
      disposal.Cancel();
      Transport.Dispose();
    }

    public MapHandle Map(string name) => new MapHandle { Client = this, Name = name };

    /// <summary>Makes any call that has one answer.</summary>
    public async Task<TResponse> CallAsync<TRequest, TResponse>(Method<TRequest, TResponse> method, TRequest request,
        TimeSpan? timeout = null, CancellationToken cancel = default(CancellationToken))
        where TRequest : class, IMessage {
      var end = Clock.Now + (timeout ?? options.Timeout);
      var query = request as IQuery;
      var least = query != null && query.View?.LeastVersion == null ? ownWrites.Of(query.Map) : null;
      if (least != null) {
        var own = query.Copy();
        own.View = (query.View ?? new View()).Copy();
        own.View.LeastVersion = least;
        try {
          return await Repeat(method, (TRequest)own, end, true, cancel);
        } catch (WaystarError error) when (error.Reason == ErrorReason.MapReplaced) {
          ownWrites.Forget(query.Map, least);
        }
      }
      var id = (request as UpdateMapRequest)?.RequestId ?? (request as CreateMapRequest)?.RequestId ?? "";
      object response = await Repeat(method, request, end, method.OnlyReads || id.Length > 0, cancel);
      if (response is UpdateMapResponse updated) {
        NoteChange((request as UpdateMapRequest).Map, updated.Version);
      } else if (response is CreateMapResponse created) {
        NoteChange((request as CreateMapRequest).Map, created.Info.Version);
      } else if (request is DeleteMapRequest delete) {
        ownWrites.Forget(delete.Map, ownWrites.Of(delete.Map));
      }
      return (TResponse)response;
    }

    /// <summary>
    /// Opens any call that has a stream of answers. `first` may be null if the call has a stream of messages.
    /// Such a stream goes on until the caller disposes of it, or for `timeout`.
    /// </summary>
    public async Task<MessageStream<TRequest, TResponse>> OpenAsync<TRequest, TResponse>(
        Method<TRequest, TResponse> method, TRequest first, TimeSpan? timeout = null,
        CancellationToken cancel = default(CancellationToken))
        where TRequest : class, IMessage where TResponse : class {
      return await AtServer(!method.OnlyReads, async server => {
        var links = CancellationTokenSource.CreateLinkedTokenSource(cancel, disposal.Token);
        var stream = new MessageStream<TRequest, TResponse>(this, server.Url + method.Path, method.Read, links);
        await stream.Open(first, timeout);
        return stream;
      });
    }

    /// <summary>Opens a stream for many queries.</summary>
    public PathStream StreamPaths() => new PathStream(this);

    /// <param name="settings">AtMostEvery, OffPath and CheaperEvery, if they are not to be the defaults.</param>
    public AgentFollower FollowAgents(FollowAgentsRequest settings = null) =>
      new AgentFollower(this, settings ?? new FollowAgentsRequest());

    /// <summary>Makes later queries see a change that another client has made.</summary>
    public void NoteChange(string map, Version version) => ownWrites.Note(map, version);

    /// <summary>Posts a body, and returns when the head of the answer is there; fails as it says.</summary>
    internal async Task<IAnswer> Post(string url, string body, TimeSpan patience, CancellationToken cancel,
        TimeSpan? timeout = null, bool opensStream = false, params (string Name, string Value)[] more) {
      var headers = more.ToDictionary(each => each.Name, each => each.Value);
      if (options.Token.Length > 0) {
        headers["Authorization"] = "Bearer " + options.Token;
      }
      if (timeout != null) {
        headers["Waystar-Timeout"] = Math.Max(Math.Ceiling(timeout.Value.TotalMilliseconds), 1) + "ms";
      }
      var answer = await Within(patience, cancel, stop => Transport.Post(url, headers, body, opensStream, stop));
      if (answer.Status == 200 || answer.Status == 204) {
        return answer;
      }
      using (answer) {
        throw WaystarError.OfAnswer(answer.Status, await Within(patience, cancel, answer.ReadLine) ?? "");
      }
    }

    /// <summary>
    /// Fails with a WaystarError: DeadlineExceeded after `patience`, even if what was started cannot be
    /// cancelled, and Unavailable if the transport fails.
    /// </summary>
    internal async Task<T> Within<T>(TimeSpan patience, CancellationToken cancel,
        Func<CancellationToken, Task<T>> start) {
      cancel.ThrowIfCancellationRequested();
      using (var stop = CancellationTokenSource.CreateLinkedTokenSource(cancel)) {
        try {
          var task = start(stop.Token);
          // The time may have passed already, and a negative delay is an error or has no end.
          var left = patience > TimeSpan.Zero ? patience : TimeSpan.Zero;
          if (!task.IsCompleted && await Task.WhenAny(task, Transport.Delay(left, stop.Token)) != task) {
            // Nobody asks for its failure any more.
            _ = task.ContinueWith(late => late.Exception, TaskContinuationOptions.OnlyOnFaulted);
            throw new WaystarError(Code.DeadlineExceeded, "there was no answer in time");
          }
          return await task;
        } catch (Exception) when (cancel.IsCancellationRequested) {
          throw new OperationCanceledException(cancel);
        } catch (Exception problem) when (!(problem is WaystarError)) {
          throw new WaystarError(Code.Unavailable, (problem.InnerException ?? problem).Message, problem);
        } finally {
          stop.Cancel();
        }
      }
    }

    async Task<TResponse> Repeat<TRequest, TResponse>(Method<TRequest, TResponse> method, TRequest request,
        TimeSpan end, bool mayRepeat, CancellationToken cancel) where TRequest : class, IMessage {
      var body = JsonWriter.Write(request);
      for (var attempt = 1; ; ++attempt) {
        try {
          var text = await AtServer(!method.OnlyReads, server => Ask(server.Url + method.Path, body, end, cancel));
          var response = method.Read(new JsonReader(text));
          Budget.Note(true);
          return response;
        } catch (FormatException problem) {
          throw new WaystarError(Code.Internal, "the answer cannot be read: " + problem.Message, problem);
        } catch (WaystarError error) {
          var mayPass = error.Code == Code.Unavailable || error.Code == Code.Cancelled ||
            error.Code == Code.ResourceExhausted && error.RetryDelay > TimeSpan.Zero;
          var delay = Budget.DelayAfter(error, attempt);
          var isLast = attempt >= MaxAttempts && !(options.WaitForReady && error.Code == Code.Unavailable);
          if (!mayRepeat || !mayPass || !Budget.Note(false) || isLast || Clock.Now + delay >= end) {
            throw;
          }
          await Transport.Delay(delay, cancel);
        }
      }
    }

    // A change would reach one of several servers alone.
    async Task<T> AtServer<T>(bool isChange, Func<Server, Task<T>> call) {
      var server = servers.Next(isChange);
      try {
        var result = await call(server);
        server.Succeed();
        return result;
      } catch (WaystarError error) when (error.Code == Code.Unavailable) {
        server.Fail();
        throw;
      }
    }

    async Task<string> Ask(string url, string body, TimeSpan end, CancellationToken cancel) {
      var left = end - Clock.Now;
      using (var answer = await Post(url, body, left, cancel, left)) {
        return await Within(end - Clock.Now, cancel, answer.ReadLine) ?? "";
      }
    }

    async Task Check(Server server) {
      try {
        var text = await Ask(server.Url + "/grpc.health.v1.Health/Check", "{\"service\":\"waystar.v1.PathService\"}",
          Clock.Now + TimeSpan.FromSeconds(2), disposal.Token);
        server.AvoidedUntil = text.Contains("\"SERVING\"") ? TimeSpan.Zero : TimeSpan.MaxValue;
      } catch (WaystarError) {
        server.Fail();
      }
    }
  }
}
