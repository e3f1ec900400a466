using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  /// <summary>HTTP by HttpClient, for all of .NET but pages of the web.</summary>
  public sealed class HttpTransport : ITransport {
    readonly HttpClient client;

    /// <param name="handler">Says whom to trust and which certificate to show, for example. By default all
    /// connections are direct, and TLS trusts what this machine trusts.</param>
    public HttpTransport(HttpMessageHandler handler = null) {
      // Each open stream takes a connection.
      client = new HttpClient(handler ?? new HttpClientHandler { UseProxy = false, MaxConnectionsPerServer = 256 }) {
        Timeout = Timeout.InfiniteTimeSpan,
      };
      client.DefaultRequestHeaders.ExpectContinue = false;
    }

    public void Dispose() => client.Dispose();

    public Task Delay(TimeSpan delay, CancellationToken cancel) => Task.Delay(delay, cancel);

    public async Task<IAnswer> Post(string url, IDictionary<string, string> headers, string body,
      bool opensStream, TimeSpan patience, CancellationToken cancel) {
      using (var request = new HttpRequestMessage(HttpMethod.Post, url)) {
        request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        // A read that was given up still takes bytes, which might be those of the next answer.
        request.Headers.ConnectionClose = opensStream;
        foreach (var header in headers) {
          request.Headers.TryAddWithoutValidation(header.Key, header.Value);
        }
        var response = await Within(
          stop => client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, stop), patience, cancel);
        return new Answer(response, await response.Content.ReadAsStreamAsync());
      }
    }

    // Does not wait for a task longer than that, even if it cannot be cancelled.
    static async Task<T> Within<T>(Func<CancellationToken, Task<T>> start, TimeSpan patience,
        CancellationToken cancel) {
      cancel.ThrowIfCancellationRequested();
      using (var stop = CancellationTokenSource.CreateLinkedTokenSource(cancel)) {
        try {
          var task = start(stop.Token);
          // The time may have passed already, and a negative delay is an error or has no end.
          var left = patience > TimeSpan.Zero ? patience : TimeSpan.Zero;
          if (!task.IsCompleted && await Task.WhenAny(task, Task.Delay(left, stop.Token)) != task) {
            // Nobody asks for its failure any more.
            _ = task.ContinueWith(late => late.Exception, TaskContinuationOptions.OnlyOnFaulted);
            throw new TimeoutException();
          }
          return await task;
        } catch (Exception) when (cancel.IsCancellationRequested) {
          throw new OperationCanceledException(cancel);
        } catch (TimeoutException) {
          throw new WaystarError(Code.DeadlineExceeded, "there was no answer in time");
        } catch (Exception problem) {
          throw new WaystarError(Code.Unavailable, (problem.InnerException ?? problem).Message, problem);
        } finally {
          stop.Cancel();
        }
      }
    }

    sealed class Answer : IAnswer {
      readonly HttpResponseMessage response;
      readonly StreamReader reader;

      public Answer(HttpResponseMessage response, Stream stream) {
        this.response = response;
        reader = new StreamReader(stream, Encoding.UTF8);
      }

      public int Status => (int)response.StatusCode;

      public string Header(string name) =>
        response.Headers.TryGetValues(name, out var values) ? values.FirstOrDefault() : null;

      public Task<string> ReadLine(TimeSpan patience, CancellationToken cancel) =>
        Within(stop => reader.ReadLineAsync(), patience, cancel);

      public void Dispose() => response.Dispose();
    }
  }
}
