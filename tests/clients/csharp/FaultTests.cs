using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using Waystar;
using Waystar.V1;
using static Tests;

static class FaultTests {
  public static readonly Dictionary<string, Func<Task>> All = new Dictionary<string, Func<Task>> {
    ["killed"] = () => Lost(server => server.Kill()), ["drained"] = () => Lost(server => server.Drain()),
    ["game_loop"] = GameLoop, ["replaced"] = Replaced,
    ["slow"] = Slow, ["one_of_two"] = OneOfTwo, ["tokens"] = Tokens, ["tls"] = Tls,
  };

  // All that lasts goes on when a server is started again.
  static async Task Lost(Action<Server> stop) {
    using (var server = new Server())
    using (var client = NewClient(server.Address))
    using (var agents = client.FollowAgents(new FollowAgentsRequest { AtMostEvery = TimeSpan.Zero }))
    using (var stream = client.StreamPaths()) {
      var map = await ServerTests.NewMap(client, "lasting");
      agents.Put(1, map.Query((0, 0), (7, 0)));
      agents.Put(2, map.Query((0, 7), (7, 7)));
      agents.Flush();
      var events = new List<WatchMapResponse>();
      _ = map.WatchAsync(events.Add);
      var news = new List<ulong>();
      await Until(() => {
        news.AddRange(agents.TakeNews());
        return news.Contains(1) && news.Contains(2) && events.Count == 1;
      });
      Equal(7.0, (await stream.FindPathAsync(map.Query((0, 0), (7, 0)))).Cost);

      stop(server);
      await Fails<WaystarError>(() => map.FindPathAsync((0, 0), (7, 0)));
      var asked = stream.FindPathAsync(map.Query((0, 0), (6, 0)));
      agents.MoveTo(1, (1, 0));
      agents.Flush();
      server.Start();
      Equal(7.0, (await Eventually(() => map.FindPathAsync((0, 0), (7, 0)))).Cost);
      try {
        Equal(6.0, (await asked).Cost);
      } catch (WaystarError error) when (error.Code == Code.Unavailable) {
        // The server was away for long.
      }
      Equal(5.0, (await Eventually(() => stream.FindPathAsync(map.Query((0, 0), (5, 0))))).Cost);
      // The watch misses nothing, and the agent in the way gets another path from where it is.
      await map.UpdateAsync(Edits.Block(Shapes.Cells((4, 0))));
      await Until(() => agents.TakeNews().Contains(1));
      await Until(() => events.Count == 2);
      Equal(2ul, events[1].Commit.Version.Revision);
      var path = agents.Find(1).Answer.Path;
      Equal((1, false), (path.Points[0].X, IsOn(path, 4, 0)));
      Equal((7.0, null), (agents.Find(2).Answer.Cost, agents.Error));
    }
  }

  // The example loses nothing when its server is started again, and its agents walk on.
  static async Task GameLoop() {
    using (var server = new Server())
    using (var client = NewClient(server.Address))
    using (var loop = Process.Start(new ProcessStartInfo(Environment.GetEnvironmentVariable("GAME_LOOP"),
      $"{server.Address} 80 96") { RedirectStandardOutput = true, UseShellExecute = false })) {
      var name = "";
      while (name.Length == 0) {
        var maps = (await client.CallAsync(MapService.ListMaps, new ListMapsRequest())).Maps;
        name = maps.Select(each => each.Map).FirstOrDefault(each => each.StartsWith("yard")) ?? "";
      }
      // Each tick makes a revision.
      var revision = 0ul;
      _ = client.Map(name).WatchAsync(each => revision = each.Commit?.Version.Revision ?? revision);
      await Until(() => revision > 20);
      server.Drain();
      server.Start();
      var before = revision;
      await Until(() => revision > before + 20);
      var line = await loop.StandardOutput.ReadToEndAsync();
      var found = Regex.Match(line, @"^80 ticks, \d+ late, 0 calls lost, (\d+) paths received\n$");
      Equal((true, line), (found.Success, line));
      // Each agent has arrived once at least, on average.
      Equal(true, int.Parse(found.Groups[1].Value) > 400);
    }
  }

  // What an agent and a watch know of a map is of no use once the map is another one.
  static async Task Replaced() {
    using (var server = new Server())
    using (var client = NewClient(server.Address))
    using (var agents = client.FollowAgents(new FollowAgentsRequest { AtMostEvery = TimeSpan.Zero })) {
      var tiles = client.Map("tiles");
      agents.Put(1, tiles.Query((0, 9), (7, 9)));
      agents.Flush();
      var events = new List<WatchMapResponse>();
      _ = tiles.WatchAsync(events.Add);
      await Until(() => events.Count == 1 && agents.Find(1).Answer != null);
      var epoch = agents.Find(1).Version.Epoch;
      server.KillAndForget();
      server.Start();
      await Until(() => {
        agents.Flush();
        return agents.Find(1).Problem == null && agents.Find(1).Version.Epoch != epoch;
      });
      Equal(7.0, agents.Find(1).Answer.Cost);
      await Until(() => events.Count == 2);
      Equal(agents.Find(1).Version.Epoch, events[1].Resynchronize.Version.Epoch);
    }
  }

  static async Task Slow() {
    using (var server = new Server())
    using (var client = NewClient(server.Address)) {
      await client.Map("tiles").FindPathAsync((0, 0), (1, 1));
      server.Signal("STOP");
      await Until(() => server.IsStopped);
      await Fails(Code.DeadlineExceeded, "", () =>
        client.Map("tiles").FindPathAsync((0, 0), (1, 1), timeout: TimeSpan.FromMilliseconds(100)));
      using (var stream = client.StreamPaths()) {
        await Fails(Code.DeadlineExceeded, "", () =>
          stream.FindPathAsync(client.Map("tiles").Query((0, 0), (1, 1)), TimeSpan.FromMilliseconds(100)));
      }
      server.Signal("CONT");
      await client.Map("tiles").FindPathAsync((0, 0), (1, 1));
    }
  }

  static async Task OneOfTwo() {
    using (var first = new Server())
    using (var second = new Server())
    using (var client = NewClient($"{first.Address},{second.Address}")) {
      for (var i = 0; i < 20; ++i) {
        await client.Map("tiles").FindPathAsync((0, 0), (1, 0));
        if (i == 5) {
          first.Drain();
        } else if (i == 10) {
          first.Start();
          second.Kill();
        }
      }
      await Fails(Code.FailedPrecondition, "", () => client.Map("tiles").UpdateAsync(Edits.RemoveObstacle("crate")));
      await Fails(Code.FailedPrecondition, "", () => client.OpenAsync(MapService.StreamUpdates, null));
    }
  }

  static async Task Tokens() {
    var made = Run($"{Bin}/waystar", "token player update:*");
    File.WriteAllText($"{Work}/tokens", made[3] + "\n");
    using (var server = new Server($"--tokens_file={Work}/tokens")) {
      using (var client = NewClient(server.Address, made[1])) {
        Equal(1.0, (await client.Map("tiles").FindPathAsync((0, 0), (1, 0))).Cost);
        await client.Map("tiles").UpdateAsync(Edits.Block(Shapes.Cells((15, 9))));
        using (var stream = client.StreamPaths()) {
          Equal(1.0, (await stream.FindPathAsync(client.Map("tiles").Query((0, 0), (1, 0)))).Cost);
        }
      }
      using (var client = NewClient(server.Address)) {
        await Fails(Code.Unauthenticated, ErrorReason.MissingToken, () => client.Map("tiles").FindPathAsync((0, 0), (1, 0)));
      }
      using (var client = NewClient(server.Address, "wrong"))
      using (var agents = client.FollowAgents()) {
        await Fails(Code.Unauthenticated, ErrorReason.BadToken, () => client.Map("tiles").FindPathAsync((0, 0), (1, 0)));
        await Fails(Code.Unauthenticated, ErrorReason.BadToken, () => client.Map("tiles").WatchAsync(each => {}));
        await Until(() => agents.Error != null);
        Equal(Code.Unauthenticated, agents.Error.Code);
      }
    }
  }

  static async Task Tls() {
    Run("openssl", "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 365 -subj /CN=waystar " +
      $"-addext subjectAltName=DNS:localhost -keyout {Work}/key.pem -out {Work}/cert.pem");
    using (var server = new Server($"--http_tls --tls_cert={Work}/cert.pem --tls_key={Work}/key.pem")) {
      using (var client = NewClient(server.Address)) {
        await Fails(Code.Unavailable, "", () => client.Map("tiles").FindPathAsync((0, 0), (1, 0)));
      }
      var handler = new HttpClientHandler {
        ServerCertificateCustomValidationCallback = (request, certificate, chain, errors) =>
          certificate.Subject == "CN=waystar",
      };
      using (var client = new Client(new ClientOptions { Target = server.Address, Transport = new HttpTransport(handler) })) {
        Equal(1.0, (await client.Map("tiles").FindPathAsync((0, 0), (1, 0))).Cost);
      }
    }
  }

  static string[] Run(string program, string arguments) {
    using (var process = Process.Start(new ProcessStartInfo(program, arguments) {
      RedirectStandardOutput = true, RedirectStandardError = true, UseShellExecute = false,
    })) {
      var lines = process.StandardOutput.ReadToEnd().Split('\n');
      process.StandardError.ReadToEnd();
      process.WaitForExit();
      Equal(0, process.ExitCode);
      return lines;
    }
  }
}
