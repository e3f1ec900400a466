using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  /// <summary>What the client needs of HTTP, and of time. Any exception counts as an absent server.</summary>
  public interface ITransport : IDisposable {
    /// <summary>
    /// Posts a body of JSON, and returns when the head of the answer is there; `cancel` ends that wait alone.
    /// The answer to what opens a stream may be disposed of before its end.
    /// </summary>
    Task<IAnswer> Post(string url, IDictionary<string, string> headers, string body, bool opensStream,
      CancellationToken cancel);

    Task Delay(TimeSpan delay, CancellationToken cancel);
  }

  /// <summary>An answer of HTTP that may still be arriving. Its disposal ends that, also for the second time.</summary>
  public interface IAnswer : IDisposable {
    int Status { get; }

    /// <summary>The header Waystar-Stream, or null.</summary>
    string StreamId { get; }

    /// <summary>Returns the next line of the body, or null at its end.</summary>
    Task<string> ReadLine(CancellationToken cancel);
  }

  static class Clock {
    static readonly Stopwatch watch = Stopwatch.StartNew();

    public static TimeSpan Now => watch.Elapsed;
  }

  /// <summary>HTTP by HttpClient, for all of .NET but pages of the web.</summary>
  public sealed class HttpTransport : ITransport {
    readonly HttpClient client;

    /// <param name="handler">Says whom to trust and which certificate to show, for example. By default all
    /// connections are direct, TLS trusts what this machine trusts, and no redirect gets the token.</param>
    public HttpTransport(HttpMessageHandler handler = null) {
      // Each open stream takes a connection.
      client = new HttpClient(handler ?? new HttpClientHandler {
        UseProxy = false, AllowAutoRedirect = false, MaxConnectionsPerServer = 256,
      }) {
        Timeout = Timeout.InfiniteTimeSpan,
      };
      client.DefaultRequestHeaders.ExpectContinue = false;
    }

    public void Dispose() => client.Dispose();

    public Task Delay(TimeSpan delay, CancellationToken cancel) => Task.Delay(delay, cancel);

    public async Task<IAnswer> Post(string url, IDictionary<string, string> headers, string body,
        bool opensStream, CancellationToken cancel) {
      using (var request = new HttpRequestMessage(HttpMethod.Post, url)) {
        request.Content = new StringContent(body, Encoding.UTF8, "application/json");
        // A read that was given up still takes bytes, which might be those of the next answer.
        request.Headers.ConnectionClose = opensStream;
        foreach (var header in headers) {
          request.Headers.TryAddWithoutValidation(header.Key, header.Value);
        }
        var response = await client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancel);
        return new Answer(response, await response.Content.ReadAsStreamAsync());
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
      public string StreamId =>
        response.Headers.TryGetValues("Waystar-Stream", out var values) ? values.First() : null;

      public Task<string> ReadLine(CancellationToken cancel) => reader.ReadLineAsync();

      public void Dispose() => response.Dispose();
    }
  }
}
