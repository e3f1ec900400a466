using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

namespace Waystar {
  /// <summary>What the client needs of HTTP, and of time.</summary>
  public interface ITransport : IDisposable {
    /// <summary>
    /// Posts a body of JSON, and returns when the head of the answer is there. Fails with a WaystarError:
    /// Unavailable if no answer comes, DeadlineExceeded after `patience`. The answer to what opens a stream
    /// may be disposed of before its end.
    /// </summary>
    Task<IAnswer> Post(string url, IDictionary<string, string> headers, string body, bool opensStream,
      TimeSpan patience, CancellationToken cancel);

    Task Delay(TimeSpan delay, CancellationToken cancel);
  }

  /// <summary>An answer of HTTP that may still be arriving. Its disposal ends that.</summary>
  public interface IAnswer : IDisposable {
    int Status { get; }

    /// <summary>Returns a header, or null.</summary>
    string Header(string name);

    /// <summary>Returns the next line of the body, or null at its end. Fails as Post does.</summary>
    Task<string> ReadLine(TimeSpan patience, CancellationToken cancel);
  }

  static class Answers {
    public static async Task<string> ReadAll(this IAnswer answer, TimeSpan end, CancellationToken cancel) {
      var text = "";
      for (string line; (line = await answer.ReadLine(end - Clock.Now, cancel)) != null; ) {
        text += line;
      }
      return text;
    }
  }

  static class Clock {
    static readonly Stopwatch watch = Stopwatch.StartNew();

    public static TimeSpan Now => watch.Elapsed;
  }
}
