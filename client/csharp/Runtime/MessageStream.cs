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

    /// <summary>Sends a message. Waits while the server does not read.</summary>
    public async Task SendAsync(TRequest message) {
      var body = JsonWriter.Write(message);
      // The server knows a message that comes twice by its number.
      var number = (++sent).ToString();
      for (var failures = 0; ; ) {
        try {
          (await client.Post(url, body, longestSilence, End, null, false, ("Waystar-Stream", answer.StreamId),
            ("Waystar-Message", number))).Dispose();
          return;
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
}
