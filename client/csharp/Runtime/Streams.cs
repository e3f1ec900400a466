using System;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  /// <summary>
  /// An open call with a stream of answers, and perhaps one of messages. Send the next message when the one
  /// before is sent. Its disposal ends the call.
  /// </summary>
  public sealed class MessageStream<TRequest, TResponse> : IDisposable
      where TRequest : class, IMessage where TResponse : class {
    // The server sends an empty line after 5 s of silence.
    static readonly TimeSpan longestSilence = TimeSpan.FromSeconds(15);

    readonly Client client;
    readonly string url;
    readonly Func<JsonReader, TResponse> read;
    readonly CancellationTokenSource end = new CancellationTokenSource();
    readonly CancellationTokenSource links;
    IAnswer answer;
    int sent;
    WaystarError failure;

    /// <param name="links">Ends the stream when it is cancelled. The stream disposes of it.</param>
    internal MessageStream(Client client, string url, Func<JsonReader, TResponse> read,
        CancellationTokenSource links) {
      this.client = client;
      this.url = url;
      this.read = read;
      this.links = links;
      links.Token.Register(end.Cancel);
    }

    internal CancellationToken End => end.Token;

    internal async Task Open(TRequest first, TimeSpan? timeout) {
      try {
        answer = await client.Post(url, JsonWriter.Write(first), longestSilence, End, timeout, true);
      } catch {
        Dispose();
        throw;
      }
    }

    /// <summary>
    /// Sends a message. Waits while the server does not read. Returns false if the stream has ended: the next
    /// answer says why.
    /// </summary>
    public async Task<bool> SendAsync(TRequest message) {
      var body = JsonWriter.Write(message);
      // The server knows a message that comes twice by its number.
      var number = (++sent).ToString();
      for (var failures = 0; ; ) {
        try {
          (await client.Post(url, body, longestSilence, End, null, false, ("Waystar-Stream", answer.StreamId),
            ("Waystar-Message", number))).Dispose();
          return true;
        } catch (WaystarError error) when (error.Reason == V1.ErrorReason.StreamNotFound) {
          return false;
        } catch (WaystarError error) when (error.RetryDelay > TimeSpan.Zero ||
            error.Code == Code.Unavailable && ++failures < 4) {
          await client.Transport.Delay(client.Budget.DelayAfter(error, 1), End);
        }
      }
    }

    /// <summary>Ends the messages. The server answers those that were sent.</summary>
    public Task EndSendingAsync() => SendAsync(null);

    /// <summary>Returns the next answer, or null at the end.</summary>
    public async Task<TResponse> ReceiveAsync() {
      try {
        var line = "";
        while (line?.Length == 0) {
          line = await client.Within(longestSilence, End, answer.ReadLine);
        }
        return Read(new JsonReader(line ?? ""));
      } catch (FormatException problem) {
        throw new WaystarError(Code.Unavailable, "the stream was cut off: " + problem.Message, problem);
      } catch (OperationCanceledException) when (failure != null) {
        throw failure;
      }
    }

    public void Dispose() {
      end.Cancel();
      // What still runs may look at `end`, so only its links are undone.
      links.Dispose();
      answer?.Dispose();
    }

    /// <summary>Ends the call: the next answer is that problem.</summary>
    internal void Fail(WaystarError problem) {
      failure = problem;
      Dispose();
    }

    TResponse Read(JsonReader json) {
      json.NextName(out var name);
      if (name == "result") {
        return read(json);
      }
      var error = WaystarError.Read(json);
      return error.Code == Code.Ok ? (TResponse)null : throw error;
    }
  }

  /// <summary>A stream that is opened again, at any server, when it is lost. Any thread may call.</summary>
  public abstract class LastingStream<TRequest, TResponse> : IDisposable
      where TRequest : class, IMessage where TResponse : class {
    /// <summary>About the length of the longest message, which is well below the server's limit.</summary>
    internal const int MessageLength = 1 << 20;
    const int FirstDelay = 100, LastDelay = 5000;

    readonly Method<TRequest, TResponse> method;
    readonly CancellationTokenSource end = new CancellationTokenSource();
    TaskCompletionSource<bool> hasMessages = NewSignal();

    internal LastingStream(Client client, Method<TRequest, TResponse> method) {
      Client = client;
      this.method = method;
    }

    internal Client Client { get; }

    /// <summary>Ends the stream, and cancels what has no answer.</summary>
    public void Dispose() => end.Cancel();

    /// <summary>Returns the message that opens a stream, or null.</summary>
    internal virtual TRequest First() => null;

    /// <summary>Returns the next message to send, or null.</summary>
    internal virtual TRequest Next() => null;

    internal abstract void Take(TResponse answer);

    /// <summary>Returns false if no other stream is to be opened after that problem.</summary>
    internal abstract bool Lose(WaystarError problem);

    /// <summary>Has Next called.</summary>
    internal void Send() => hasMessages.TrySetResult(true);

    internal async Task Run() {
      for (var delay = FirstDelay; ; delay = Math.Min(2 * delay, LastDelay)) {
        var sending = Task.CompletedTask;
        var problem = new WaystarError(Code.Unavailable, "the stream has ended");
        try {
          using (var stream = await Client.OpenAsync(method, First(), null, end.Token)) {
            sending = SendAll(stream);
            for (TResponse answer; (answer = await stream.ReceiveAsync()) != null;) {
              delay = FirstDelay;
              Take(answer);
            }
          }
        } catch (WaystarError error) {
          problem = error;
        }
        // A sender that goes on would take the messages for the next stream.
        await sending;
        if (!Lose(problem)) {
          return;
        }
        var pause = Math.Max(delay, problem.RetryDelay.TotalMilliseconds);
        await Client.Transport.Delay(TimeSpan.FromMilliseconds(pause), end.Token);
      }
    }

    async Task SendAll(MessageStream<TRequest, TResponse> stream) {
      try {
        using (stream.End.Register(Send)) {
          while (true) {
            hasMessages = NewSignal();
            stream.End.ThrowIfCancellationRequested();
            for (TRequest message; (message = Next()) != null;) {
              await stream.SendAsync(message);
            }
            await hasMessages.Task;
          }
        }
      } catch (OperationCanceledException) {
        // The stream has ended.
      } catch (Exception problem) {
        stream.Fail(problem as WaystarError ?? new WaystarError(Code.InvalidArgument, problem.Message, problem));
      }
    }

    static TaskCompletionSource<bool> NewSignal() =>
      new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
  }
}
