using System;
using System.Collections.Generic;
using System.Linq;

namespace Waystar {
  /// <summary>Servers that take turns. One that has failed is avoided for a while.</summary>
  sealed class Servers {
    static readonly TimeSpan checkEvery = TimeSpan.FromSeconds(5);

    readonly List<Server> all;
    readonly Action<Server> check;
    int turn;

    /// <param name="check">Asks one of several servers for its health, and sets IsServing.</param>
    public Servers(string target, Action<Server> check) {
      all = target.Split(',').Select(each => new Server(each.Trim())).ToList();
      this.check = check;
    }

    public bool AreMany => all.Count > 1;
    public bool AreSafe => all.All(each => each.Uri.Scheme == "https" || each.Uri.IsLoopback);

    public Server Next() {
      if (!AreMany) {
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
        return Enumerable.Range(turn, all.Count).Select(i => all[i % all.Count])
          .OrderBy(each => each.IsServing ? 0 : 1)
          .ThenBy(each => now < each.AvoidedUntil ? each.AvoidedUntil : TimeSpan.Zero)
          .First();
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
    public bool IsServing { get; set; } = true;
    public TimeSpan CheckAt { get; set; }
    public TimeSpan AvoidedUntil { get; private set; }

    public void Succeed() {
      failures = 0;
      AvoidedUntil = TimeSpan.Zero;
    }

    public void Fail() =>
      AvoidedUntil = Clock.Now + TimeSpan.FromMilliseconds(Math.Min(100 << Math.Min(failures++, 5), 2000));
  }
}
