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
