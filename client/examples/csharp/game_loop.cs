// A game loop: 200 agents walk about a yard, round its walls and the carts that drive there.
//
//   game_loop.exe [SERVER [TICKS [SIZE]]]
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Waystar;
using Waystar.V1;

sealed class Agent {
  public ulong Id;
  public (int X, int Y) Cell;
  // The newest path, and where the agent is on it: -1 while it is not.
  public List<Cell> Path;
  public int At = -1;
}

sealed class Cart {
  public int X, Y, Step = 1;

  public Edit Edit() => Edits.PutObstacle($"cart{Y}", Shapes.Rect(X, Y, 2, 2));
  public bool Covers((int X, int Y) cell) => cell.X >= X && cell.X < X + 2 && cell.Y >= Y && cell.Y < Y + 2;
}

static class GameLoop {
  static readonly TimeSpan tickTime = TimeSpan.FromMilliseconds(50);
  static readonly Random random = new Random(7);
  static int size;

  static void Main(string[] args) => Play(args).Wait();

  static async Task Play(string[] args) {
    var ticks = int.Parse(args.ElementAtOrDefault(1) ?? "200");
    size = int.Parse(args.ElementAtOrDefault(2) ?? "256");
    var carts = Enumerable.Range(0, 12).Select(i => new Cart { X = random.Next(size - 2), Y = i * (size / 12) }).ToList();
    var agents = Enumerable.Range(0, 200).Select(i => new Agent { Id = (ulong)i, Cell = FreeCell() }).ToList();
    int late = 0, lost = 0, paths = 0;
    // Updates wait for a server that starts again.
    using (var client = new Client(new ClientOptions {
      Target = args.ElementAtOrDefault(0) ?? "http://localhost:8080", WaitForReady = true, Timeout = TimeSpan.FromMinutes(1)
    }))
    using (var follower = client.FollowAgents()) {
      var yard = client.Map($"yard-{Guid.NewGuid():N}");
      var blank = new BlankGrid { Width = size, Height = size };
      await client.CallAsync(MapService.CreateMap, new CreateMapRequest { Map = yard.Name, RequestId = yard.Name, Blank = blank });
      var walls = carts.Select(each => Shapes.Rect(size / 8, each.Y + size / 24, size * 3 / 4, 1));
      await yard.UpdateAsync(walls.Select(Edits.Block).ToArray());
      agents.ForEach(each => follower.Put(each.Id, yard.Query(each.Cell, FreeCell())));
      var driving = Task.FromResult<UpdateMapResponse>(null);
      for (var tick = 0; tick < ticks; ++tick) {
        var time = System.Diagnostics.Stopwatch.StartNew();
        // Carts wait for the server. An update says where all of them are, so it needs none before it.
        if (driving.IsCompleted) {
          lost += driving.IsFaulted ? 1 : 0;
          carts.ForEach(each => Drive(each, agents));
          driving = yard.UpdateAsync(carts.Select(each => each.Edit()).ToArray());
        }
        foreach (var id in follower.TakeNews()) {
          var (agent, state) = (agents[(int)id], follower.Find(id));
          agent.Path = state.Problem == null && state.Answer.Outcome == Outcome.Found ? state.Answer.Path.Points : null;
          // The path begins where the agent was when the server searched.
          agent.At = agent.Path?.FindIndex(each => (each.X, each.Y).Equals(agent.Cell)) ?? -1;
          paths += agent.Path == null ? 0 : 1;
        }
        agents.ForEach(each => Walk(each, carts, follower));
        follower.Flush();
        late += time.Elapsed > tickTime ? 1 : 0;
        await Task.Delay(time.Elapsed < tickTime ? tickTime - time.Elapsed : TimeSpan.Zero);
      }
      await driving.ContinueWith(last => lost += last.IsFaulted || follower.Error != null ? 1 : 0);
    }
    Console.WriteLine($"{ticks} ticks, {late} late, {lost} calls lost, {paths} paths received");
  }

  // Carts drive on the first two of every twelfth part of the rows, and a wall is in its middle.
  static (int X, int Y) FreeCell() => (random.Next(size), random.Next(12) * (size / 12) + random.Next(2, size / 24));

  // A cart turns round at the end of its lane, and before an agent.
  static void Drive(Cart cart, List<Agent> agents) {
    cart.X += cart.Step;
    if (cart.X < 0 || cart.X > size - 2 || agents.Any(each => cart.Covers(each.Cell))) {
      cart.X -= cart.Step;
      cart.Step = -cart.Step;
    }
  }

  static void Walk(Agent agent, List<Cart> carts, AgentFollower follower) {
    var next = agent.At < 0 ? null : agent.Path.ElementAtOrDefault(agent.At + 1);
    if (next != null && !carts.Any(each => each.Covers((next.X, next.Y)))) {
      ++agent.At;
      agent.Cell = (next.X, next.Y);
      follower.MoveTo(agent.Id, next);
    } else if (next == null && agent.At >= 0) {
      follower.SendTo(agent.Id, FreeCell());
      agent.At = -1;
    }
  }
}
