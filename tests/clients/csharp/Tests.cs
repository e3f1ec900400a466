using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Waystar;
using Waystar.V1;

// tests.exe BIN SAMPLES WORK [TEST...]
static class Tests {
  public static string Bin, Samples, Work;

  static int Main(string[] arguments) {
    Bin = arguments[0];
    Samples = arguments[1];
    Work = arguments[2];
    var failures = 0;
    foreach (var test in JsonTests.All.Concat(RetryTests.All).Concat(ServerTests.All).Concat(FaultTests.All)) {
      if (arguments.Length > 3 && !arguments.Skip(3).Contains(test.Key)) {
        continue;
      }
      try {
        if (!test.Value().Wait(TimeSpan.FromSeconds(60))) {
          throw new TimeoutException("the test does not end");
        }
        Console.WriteLine($"ok {test.Key}");
      } catch (Exception problem) {
        Console.WriteLine($"FAILED {test.Key}: {problem}");
        ++failures;
      }
    }
    Server.All.ForEach(server => server.Dispose());
    return failures == 0 ? 0 : 1;
  }

  public static void Equal<T>(T expected, T actual) {
    if (!EqualityComparer<T>.Default.Equals(expected, actual)) {
      throw new Exception($"expected {expected}, got {actual}");
    }
  }

  public static async Task<TError> Fails<TError>(Func<Task> action) where TError : Exception {
    try {
      await action();
    } catch (TError error) {
      return error;
    }
    throw new Exception($"no {typeof(TError).Name}");
  }

  public static async Task Fails(Code code, string reason, Func<Task> action) {
    var error = await Fails<WaystarError>(action);
    Equal((code, reason), (error.Code, error.Reason));
  }

  public static async Task Until(Func<bool> condition) {
    while (!condition()) {
      await Task.Delay(5);
    }
  }

  // Again and again, as long as the server is not there.
  public static async Task<T> Eventually<T>(Func<Task<T>> call) {
    while (true) {
      try {
        return await call();
      } catch (WaystarError error) when (error.Code == Code.Unavailable) {
        await Task.Delay(5);
      }
    }
  }

  public static Client NewClient(string target, string token = "") =>
    new Client(new ClientOptions { Target = target, Token = token, Timeout = TimeSpan.FromSeconds(30) });

  public static bool IsOn(Path path, int x, int y) => path.Points.Any(each => each.X == x && each.Y == y);
}
