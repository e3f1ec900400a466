using System;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  /// <summary>A stream that is opened again, at any server, when it is lost. Any thread may call.</summary>
  public abstract class LastingStream<TRequest, TResponse> : IDisposable
      where TRequest : class, IMessage where TResponse : class {
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
        await Client.Transport.Delay(TimeSpan.FromMilliseconds(delay), end.Token);
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
