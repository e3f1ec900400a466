using System;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  /// <summary>A stream that is opened again, at any server, when it is lost. Any thread may call.</summary>
  public abstract class LastingStream<TRequest, TResponse> : IDisposable
    where TRequest : class, IMessage where TResponse : class {
    const int FirstDelay = 100, LastDelay = 5000;

    readonly Method<TRequest, TResponse> method;
    readonly CancellationTokenSource end;
    TaskCompletionSource<bool> hasMessages = NewSignal();

    internal LastingStream(Client client, Method<TRequest, TResponse> method,
        CancellationToken cancel = default(CancellationToken)) {
      Client = client;
      this.method = method;
      end = CancellationTokenSource.CreateLinkedTokenSource(cancel);
    }

    internal Client Client { get; }

    /// <summary>Ends the stream, and cancels what has no answer.</summary>
    public void Dispose() => end.Cancel();

    /// <summary>Returns the message that opens a stream.</summary>
    internal abstract TRequest First();

    /// <summary>Returns the next message to send, or null.</summary>
    internal virtual TRequest Next() => null;

    internal abstract void Take(TResponse answer);

    /// <summary>Returns false if no other stream is to be opened after that problem.</summary>
    internal abstract bool Lose(WaystarError problem);

    /// <summary>Has Next called.</summary>
    internal void Send() => hasMessages.TrySetResult(true);

    internal async Task Run() {
      for (var delay = FirstDelay; ; delay = Math.Min(2 * delay, LastDelay)) {
        var sending = Task.FromResult<WaystarError>(null);
        WaystarError problem = null;
        try {
          using (var stream = await Client.OpenAsync(method, First(), null, end.Token)) {
            sending = SendAll(stream);
            for (TResponse answer; (answer = await stream.ReceiveAsync()) != null;) {
              delay = FirstDelay;
              Take(answer);
            }
          }
          problem = new WaystarError(Code.Unavailable, "the stream has ended");
        } catch (WaystarError error) {
          problem = error;
        } catch (OperationCanceledException) when (!end.IsCancellationRequested) {
          // The sender may have ended the stream.
        }
        // A sender that goes on would take the messages for the next stream.
        var failure = await sending;
        problem = problem ?? failure ?? throw new OperationCanceledException();
        if (!Lose(problem)) {
          return;
        }
        await Client.Transport.Delay(TimeSpan.FromMilliseconds(delay), end.Token);
      }
    }

    // Returns why the messages cannot be sent, or null if the stream has ended before.
    async Task<WaystarError> SendAll(MessageStream<TRequest, TResponse> stream) {
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
      } catch (WaystarError error) {
        stream.Dispose();
        return error;
      } catch (OperationCanceledException) {
        return null;
      }
    }

    static TaskCompletionSource<bool> NewSignal() =>
      new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
  }
}
