using System;
using System.Collections.Generic;
using System.Diagnostics;
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
}
