using System;
using System.Collections.Generic;
using System.Linq;

namespace Waystar {
  /// <summary>Servers that take turns. One that has failed is avoided for a while.</summary>
  sealed class Servers {
    static readonly TimeSpan checkEvery = TimeSpan.FromSeconds(5);

    readonly string target;
    readonly List<Server> all;
    readonly Action<Server> check;
    int turn;

    /// <param name="check">Asks one of several servers for its health, and notes the answer.</param>
    public Servers(string target, Action<Server> check) {
      this.target = target;
      all = target.Split(',').Select(each => new Server(each.Trim())).ToList();
      this.check = check;
    }

    public bool AreSafe => all.All(each => each.Uri.Scheme == "https" || each.Uri.IsLoopback);

    public Server Next(bool isChange) {
      if (isChange && all.Count > 1) {
        throw new WaystarError(Code.FailedPrecondition,
          $"{target} are several servers: make a change at each of them by its own address");
      }
      if (all.Count == 1) {
        return all[0];
      }
      lock (all) {
        var now = Clock.Now;
        foreach (var each in all.Where(each => now >= each.CheckAt)) {
          each.CheckAt = now + checkEvery;
          check(each);
        }
        turn = (turn + 1) % all.Count;
        // The sort keeps the order of those that are as good.
        return all.Skip(turn).Concat(all.Take(turn))
          .OrderBy(each => now < each.AvoidedUntil ? each.AvoidedUntil : TimeSpan.Zero).First();
      }
    }
  }

  sealed class Server {
    int failures;

    public Server(string address) {
      Uri = new Uri(address.Contains("://") ? address : "http://" + address);
      Url = Uri.AbsoluteUri.TrimEnd('/');
    }

    public Uri Uri { get; }
    public string Url { get; }
    public TimeSpan CheckAt { get; set; }
    public TimeSpan AvoidedUntil { get; set; }

    public void Succeed() {
      failures = 0;
      AvoidedUntil = TimeSpan.Zero;
    }

    public void Fail() =>
      AvoidedUntil = Clock.Now + TimeSpan.FromMilliseconds(Math.Min(100 << Math.Min(failures++, 5), 2000));
  }

  /// <summary>Ends retries while most calls fail, and says how long to wait before one.</summary>
  sealed class RetryBudget {
    const int Full = 100000;
    readonly Random random = new Random();
    int left = Full;

    /// <summary>Notes how a call has ended. Returns false if none may be tried again.</summary>
    public bool Note(bool isGood) {
      lock (random) {
        left = Math.Min(Math.Max(left + (isGood ? 100 : -1000), 0), Full);
        return left >= Full / 2;
      }
    }

    // Never sooner than the server asks; what many clients do at once is spread over half as much again.
    public TimeSpan DelayAfter(WaystarError error, int attempt) {
      var asked = error.RetryDelay.TotalMilliseconds;
      var delay = asked > 0 ? asked * attempt : Math.Min(50 * Math.Pow(3, attempt - 1), 1000);
      lock (random) {
        return TimeSpan.FromMilliseconds(delay * (1 + random.NextDouble() / 2));
      }
    }
  }

  /// <summary>Remembers the versions that changes have led maps to: of the maps that were changed last.</summary>
  sealed class OwnWrites {
    const int MostMaps = 1024;
    // The map that was changed last is the last.
    readonly List<(string Map, V1.Version Version)> all = new List<(string, V1.Version)>();

    public V1.Version Of(string map) {
      lock (all) {
        return all.Find(each => each.Map == map).Version;
      }
    }

    public void Note(string map, V1.Version version) {
      lock (all) {
        var known = Of(map);
        if (known?.Epoch != version.Epoch || known.Revision <= version.Revision) {
          Forget(map, known);
          all.Add((map, version));
          all.RemoveRange(0, Math.Max(all.Count - MostMaps, 0));
        }
      }
    }

    /// <summary>Forgets a version, unless a change has led to another one since.</summary>
    public void Forget(string map, V1.Version version) {
      lock (all) {
        all.Remove((map, version));
      }
    }
  }
}
