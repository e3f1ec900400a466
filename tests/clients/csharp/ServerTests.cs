using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Waystar;
using Waystar.V1;
using static Tests;

static class ServerTests {
  public static readonly Dictionary<string, Func<Task>> All = new Dictionary<string, Func<Task>> {
    ["paths"] = Paths, ["updates"] = Updates, ["own_writes"] = SeesOwnWrites, ["moves"] = Moves, ["watch"] = Watches,
    ["path_stream"] = StreamsPaths, ["raw_streams"] = RawStreams, ["agents"] = FollowsAgents,
    ["end_of_agents"] = EndsAgents, ["agents_on_two_maps"] = FollowsThroughPortal,
  };

  static readonly Lazy<Server> server = new Lazy<Server>(() => new Server());

  // Creates an empty map of 8 x 8 cells.
  public static async Task<MapHandle> NewMap(Client client, string name) {
    await client.CallAsync(MapService.CreateMap, new CreateMapRequest {
      Map = name, Blank = new BlankGrid { Width = 8, Height = 8 },
    });
    return client.Map(name);
  }

  static async Task Paths() {
    using (var client = NewClient(server.Value.Address)) {
      var tiles = client.Map("tiles");
      var answer = await tiles.FindPathAsync((0, 0), (15, 9), query => query.PathForm = PathForm.Corners);
      Equal((Outcome.Found, 19.8, PathForm.Corners), (answer.Outcome, answer.Cost, answer.Path.Form));
      answer = await tiles.FindPathAsync((0.5, 0.5, 0), (3.5, 1.5, 0));
      Equal((3.4, 3), (answer.Cost, answer.Path.Points.Last().X));
      await client.CallAsync(MapService.CreateMap, new CreateMapRequest {
        Map = "bay", Graph = new WaypointGraph {
          Nodes = { new WaypointNode { Id = "harbour" }, new WaypointNode { Id = "tower", Position = new Position { X = 5 } } },
          AutoConnect = new AutoConnect { MaxDistance = 10 },
        },
      });
      answer = await client.Map("bay").FindPathAsync("harbour", "tower");
      Equal((5.0, "tower"), (answer.Cost, answer.Path.Nodes.Last()));
      var error = await Fails<WaystarError>(() => tiles.FindPathAsync((0, 0), (16, 9)));
      Equal((Code.OutOfRange, ErrorReason.OffMap, "goals[0]"), (error.Code, error.Reason, error.Field));
      await Fails(Code.NotFound, ErrorReason.MapNotFound, () => client.Map("nowhere").FindPathAsync((0, 0), (1, 1)));
    }
  }

  static async Task Updates() {
    using (var client = NewClient(server.Value.Address)) {
      var map = await NewMap(client, "updates");
      var updated = await map.UpdateAsync(Edits.PutObstacle("crate", Shapes.Rect(3, 0, 1, 7)), Edits.Block(Shapes.Cells((0, 7))));
      Equal((2ul, 8L), (updated.Version.Revision, updated.ChangedCells));
      Equal(true, IsOn((await map.FindPathAsync((0, 0), (7, 0))).Path, 3, 7));
      await map.UpdateAsync(Edits.MoveObstacle("crate", 0, 1), Edits.Unblock(Shapes.Cells((0, 7))));
      Equal(true, IsOn((await map.FindPathAsync((0, 0), (7, 0))).Path, 3, 0));
      var edits = new[] { Edits.RemoveObstacle("crate"), Edits.PutObstacle("well", Shapes.Disc(1, 1, 0.5)) };
      updated = await map.UpdateAsync(edits, "once");
      Equal(false, updated.AlreadyApplied);
      Equal(true, (await map.UpdateAsync(edits, "once")).AlreadyApplied);
      await Fails(Code.Aborted, ErrorReason.StaleRevision, () => map.UpdateAsync(new[] { Edits.RemoveObstacle("well") }, null,
        new Waystar.V1.Version { Epoch = updated.Version.Epoch, Revision = 1 }));
      await Fails(Code.NotFound, ErrorReason.ObstacleNotFound, () => map.UpdateAsync(Edits.RemoveObstacle("crate")));
    }
  }

  static async Task SeesOwnWrites() {
    using (var client = NewClient(server.Value.Address)) {
      var map = await NewMap(client, "own");
      await map.UpdateAsync(Edits.Block(Shapes.Cells((1, 1))));
      Equal(2ul, (await map.FindPathAsync((0, 0), (2, 2))).Info.Version.Revision);
      // Another client replaces the map: the version of this one means nothing any more.
      using (var other = NewClient(server.Value.Address)) {
        await other.CallAsync(MapService.DeleteMap, new DeleteMapRequest { Map = "own" });
        await NewMap(other, "own");
      }
      Equal(1ul, (await map.FindPathAsync((0, 0), (2, 2))).Info.Version.Revision);
      // The server waits for a version that it does not have.
      var version = (await map.FindPathAsync((0, 0), (2, 2))).Info.Version;
      client.NoteChange("own", new Waystar.V1.Version { Epoch = version.Epoch, Revision = 2 });
      var waiting = map.FindPathAsync((0, 0), (2, 2));
      using (var other = NewClient(server.Value.Address)) {
        await other.Map("own").UpdateAsync(Edits.Block(Shapes.Cells((1, 1))));
      }
      Equal(2ul, (await waiting).Info.Version.Revision);
    }
  }

  static async Task Moves() {
    using (var client = NewClient(server.Value.Address)) {
      var move = new MoveToCheck { From = new Location { Cell = new Cell() }, Elapsed = TimeSpan.FromSeconds(1) };
      var near = move.Copy();
      near.To = new Location { Cell = new Cell { X = 2 } };
      var far = move.Copy();
      far.To = new Location { Cell = new Cell { X = 15 } };
      var results = await client.Map("tiles").CheckMovesAsync(new[] { near, far }, 3);
      Equal((MoveVerdict.Ok, MoveVerdict.TooFast), (results[0].Verdict, results[1].Verdict));
      Equal(true, results[1].LeastTime > TimeSpan.FromSeconds(4));
    }
  }

  static async Task Watches() {
    using (var client = NewClient(server.Value.Address))
    using (var end = new CancellationTokenSource()) {
      var map = await NewMap(client, "watched");
      var events = new List<WatchMapResponse>();
      var watch = map.WatchAsync(events.Add, withEdits: true, cancel: end.Token);
      await Until(() => events.Count == 1);
      Equal(1ul, events[0].Watching.Version.Revision);
      var updated = await map.UpdateAsync(Edits.PutObstacle("crate", Shapes.Rect(3, 0, 1, 7)));
      await Until(() => events.Count == 2);
      Equal((2ul, "crate", updated.Digest),
        (events[1].Commit.Version.Revision, events[1].Commit.Edits[0].PutObstacle.Id, events[1].Commit.Digest));
      end.Cancel();
      await Fails<OperationCanceledException>(() => watch);
      // A watch goes on with another map of that name. It reads no event while the maps change.
      using (var endOfOther = new CancellationTokenSource()) {
        events.Clear();
        watch = map.WatchAsync(each => {
          events.Add(each);
          if (each.Watching != null) {
            Task.Run(async () => {
              await client.CallAsync(MapService.DeleteMap, new DeleteMapRequest { Map = "watched" });
              await NewMap(client, "watched");
            }).Wait();
          }
        }, cancel: endOfOther.Token);
        await Until(() => events.Any(each => each.Resynchronize != null));
        endOfOther.Cancel();
        await Fails<OperationCanceledException>(() => watch);
      }
      // A watch of a map that is deleted ends.
      watch = map.WatchAsync(each => {});
      await client.CallAsync(MapService.DeleteMap, new DeleteMapRequest { Map = "watched" });
      await Fails(Code.NotFound, ErrorReason.MapNotFound, () => watch);
    }
  }

  static async Task StreamsPaths() {
    using (var client = NewClient(server.Value.Address))
    using (var stream = client.StreamPaths()) {
      var map = await NewMap(client, "streamed");
      var answers = await Task.WhenAll(Enumerable.Range(0, 2000).Select(i =>
        stream.FindPathAsync(map.Query((0, 0), (i % 8, 0)))));
      for (var i = 0; i < answers.Length; ++i) {
        Equal((double)(i % 8), answers[i].Cost);
      }
      await Fails(Code.OutOfRange, ErrorReason.OffMap, () => stream.FindPathAsync(map.Query((0, 0), (9, 9))));
      Equal(1.0, (await stream.FindPathAsync(map.Query((0, 0), (1, 0)))).Cost);
      // All of these are too long for one message.
      var query = map.Query((0, 0), (1, 0));
      var cells = Enumerable.Range(0, 2000).Select(i => new Cell { X = 2, Y = i % 8 });
      query.View = new View { Overlay = new Overlay { Blocked = new Shape { Cells = cells.ToList() } } };
      foreach (var answer in await Task.WhenAll(Enumerable.Range(0, 200).Select(i => stream.FindPathAsync(query)))) {
        Equal(1.0, answer.Cost);
      }
    }
  }

  static async Task RawStreams() {
    using (var client = NewClient(server.Value.Address)) {
      var bytes = new List<byte>();
      using (var stream = await client.OpenAsync(MapService.ExportMap, new ExportMapRequest { Map = "tiles" })) {
        for (ExportMapResponse part; (part = await stream.ReceiveAsync()) != null;) {
          bytes.AddRange(part.Chunk ?? new byte[0]);
        }
      }
      var header = new ImportMapHeader { Map = "copy", Size = bytes.Count };
      using (var stream = await client.OpenAsync(MapService.ImportMap, new ImportMapRequest { Header = header })) {
        await stream.SendAsync(new ImportMapRequest { Chunk = bytes.ToArray() });
        await stream.EndSendingAsync();
        Equal(16, (await stream.ReceiveAsync()).Info.Grid.Width);
      }
      await Fails(Code.AlreadyExists, ErrorReason.MapExists, async () => {
        using (var stream = await client.OpenAsync(MapService.ImportMap, new ImportMapRequest { Header = header })) {
          // The answer says why the stream has ended while the file was sent.
          while (await stream.SendAsync(new ImportMapRequest { Chunk = new byte[1] })) {}
          await stream.ReceiveAsync();
        }
      });
      await Fails(Code.NotFound, ErrorReason.MapNotFound, async () => {
        using (var stream = await client.OpenAsync(MapService.ExportMap, new ExportMapRequest { Map = "nowhere" })) {
          await stream.ReceiveAsync();
        }
      });
    }
  }

  static async Task FollowsAgents() {
    using (var client = NewClient(server.Value.Address))
    using (var agents = client.FollowAgents(new FollowAgentsRequest { AtMostEvery = TimeSpan.Zero })) {
      var map = await NewMap(client, "followed");
      agents.Put(1, map.Query((0, 0), (7, 0)));
      agents.Put(2, map.Query((0, 7), (7, 7)));
      agents.Put(3, map.Query((9, 9), (7, 7)));
      agents.Flush();
      var news = new HashSet<ulong>();
      Func<ulong, Task> hasNews = async id => {
        await Until(() => {
          news.UnionWith(agents.TakeNews());
          return news.Remove(id);
        });
      };
      await hasNews(1);
      await hasNews(2);
      await hasNews(3);
      Equal((7.0, 7.0), (agents.Find(1).Answer.Cost, agents.Find(2).Answer.Cost));
      Equal((true, ErrorReason.OffMap), (agents.Find(3).HasEnded, agents.Find(3).Problem.Reason));
      Equal(null, agents.Find(4));
      // A change before the first agent, and none before the other.
      agents.MoveTo(1, (1, 0));
      agents.Flush();
      await map.UpdateAsync(Edits.PutObstacle("crate", Shapes.Cells((3, 0))));
      await hasNews(1);
      Equal(false, IsOn(agents.Find(1).Answer.Path, 3, 0));
      Equal(0, news.Count);
      // News about the goal before is none.
      agents.Put(2, map.Query((0, 7), (6, 7)));
      agents.Flush();
      await Until(() => agents.Find(2).Answer != null);
      agents.SendTo(2, (0, 4));
      Equal((null, 0), (agents.Find(2).Answer, agents.TakeNews().Count));
      agents.Flush();
      await hasNews(2);
      Equal((3.0, 4), (agents.Find(2).Answer.Cost, agents.Find(2).Answer.Path.Points.Last().Y));
      // The last place counts, though it was not sent by itself.
      agents.Put(5, map.Query((0, 0), (7, 7)));
      agents.MoveTo(5, (7, 5));
      agents.Flush();
      await hasNews(5);
      Equal(2.0, agents.Find(5).Answer.Cost);
      agents.Remove(2);
      agents.Flush();
      Equal(null, agents.Find(2));
    }
  }

  static async Task EndsAgents() {
    using (var client = NewClient(server.Value.Address))
    using (var agents = client.FollowAgents(new FollowAgentsRequest { AtMostEvery = TimeSpan.Zero })) {
      var map = await NewMap(client, "replaced");
      agents.Put(1, map.Query((0, 0), (7, 0)));
      agents.Flush();
      await Until(() => agents.TakeNews().Count > 0);
      var epoch = agents.Find(1).Version.Epoch;
      await client.CallAsync(MapService.DeleteMap, new DeleteMapRequest { Map = "replaced" });
      await Until(() => agents.TakeNews().Count > 0);
      Equal((true, ErrorReason.MapNotFound), (agents.Find(1).HasEnded, agents.Find(1).Problem.Reason));
      await NewMap(client, "replaced");
      agents.Put(1, map.Query((0, 0), (7, 7)));
      agents.Flush();
      await Until(() => agents.TakeNews().Count > 0);
      Equal((false, null, false), (agents.Find(1).HasEnded, agents.Find(1).Problem, agents.Find(1).Version.Epoch == epoch));
    }
    using (var client = NewClient(server.Value.Address))
    using (var agents = client.FollowAgents(new FollowAgentsRequest { OffPath = -1 })) {
      await Until(() => agents.Error != null);
      Equal(Code.InvalidArgument, agents.Error.Code);
    }
  }

  static async Task FollowsThroughPortal() {
    using (var client = NewClient(server.Value.Address))
    using (var agents = client.FollowAgents(new FollowAgentsRequest { AtMostEvery = TimeSpan.Zero })) {
      var house = await NewMap(client, "house");
      var cellar = await NewMap(client, "cellar");
      await house.UpdateAsync(new Edit { PutPortal = new Portal {
        Id = "stairs", From = new Cell { X = 3 }, ToMap = "cellar", To = new Cell { X = 5 }, Cost = 1,
      } });
      var query = house.Query((0, 0), (7, 0));
      query.GoalMap = "cellar";
      agents.Put(1, query);
      agents.Flush();
      await Until(() => agents.TakeNews().Count > 0);
      Equal((6.0, "cellar"), (agents.Find(1).Answer.Cost, agents.Find(1).Answer.Path.Crossings[0].Map));
      agents.MoveTo(1, (5, 0), "cellar");
      Equal(null, agents.Find(1).Answer);
      agents.Flush();
      await Until(() => agents.TakeNews().Count > 0);
      Equal((2.0, 0), (agents.Find(1).Answer.Cost, agents.Find(1).Answer.Path.Crossings.Count));
      // The agent now follows the changes of the cellar.
      agents.MoveTo(1, (6, 0), "cellar");
      await cellar.UpdateAsync(Edits.Block(Shapes.Cells((7, 0))));
      agents.Flush();
      await Until(() => agents.TakeNews().Count > 0);
      Equal(true, agents.Find(1).Problem != null || agents.Find(1).Answer.Outcome == Outcome.Unreachable);
      // The goal stays where it is when the agent goes back.
      await cellar.UpdateAsync(Edits.Unblock(Shapes.Cells((7, 0))));
      agents.MoveTo(1, (2, 0), "house");
      agents.Flush();
      await Until(() => agents.Find(1).Answer?.Outcome == Outcome.Found);
      Equal(4.0, agents.Find(1).Answer.Cost);
    }
  }
}
