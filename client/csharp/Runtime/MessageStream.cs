using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  using V1;

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
    int isDisposed;

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
      var headers = client.Headers();
      if (timeout != null) {
        headers["Waystar-Timeout"] = Math.Ceiling(timeout.Value.TotalMilliseconds) + "ms";
      }
      answer = await client.Transport.Post(url, headers, Text(first), true, longestSilence, End);
      if (answer.Status != 200) {
        throw WaystarError.OfAnswer(answer.Status, await answer.ReadAll(Clock.Now + longestSilence, End));
      }
    }

    /// <summary>Sends a message. Waits while the server does not read.</summary>
    public Task SendAsync(TRequest message) => Send(Text(message));

    /// <summary>Ends the messages. The server answers those that were sent.</summary>
    public Task EndSendingAsync() => Send("");

    /// <summary>Returns the next answer, or null at the end.</summary>
    public async Task<TResponse> ReceiveAsync() {
      string line;
      do {
        line = await answer.ReadLine(longestSilence, End);
        if (line == null) {
          throw new WaystarError(Code.Unavailable, "the stream was cut off");
        }
      } while (line.Length == 0);
      try {
        var json = new JsonReader(line);
        json.NextName(out var name);
        if (name == "result") {
          return read(json);
        }
        var error = WaystarError.Read(json);
        return error.Code == Code.Ok ? (TResponse)null : throw error;
      } catch (FormatException problem) {
        throw new WaystarError(Code.Unavailable, "the stream was cut off: " + problem.Message, problem);
      }
    }

    public void Dispose() {
      if (Interlocked.Exchange(ref isDisposed, 1) == 0) {
        end.Cancel();
        // What still runs may look at `end`, so only its links are undone.
        links.Dispose();
        answer?.Dispose();
      }
    }

    static string Text(TRequest message) => message == null ? "" : JsonWriter.Write(message);

    // The server knows a message that comes twice by its number.
    async Task Send(string body) {
      var headers = client.Headers();
      headers["Waystar-Stream"] = answer.Header("Waystar-Stream");
      headers["Waystar-Message"] = (++sent).ToString();
      for (var failures = 0; ; ) {
        TimeSpan delay;
        try {
          using (var reply = await client.Transport.Post(url, headers, body, false, longestSilence, End)) {
            if (reply.Status == 204) {
              return;
            }
            throw WaystarError.OfAnswer(reply.Status, await reply.ReadAll(Clock.Now + longestSilence, End));
          }
        } catch (WaystarError error) when (error.RetryDelay > TimeSpan.Zero) {
          delay = error.RetryDelay;
        } catch (WaystarError error) when (error.Code == Code.Unavailable && ++failures < 4) {
          delay = TimeSpan.FromMilliseconds(50);
        }
        await client.Transport.Delay(delay, End);
      }
    }
  }
}
