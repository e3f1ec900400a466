using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Waystar;
using Waystar.V1;
using static Tests;

static class RetryTests {
  const string Busy = "{\"code\":8,\"details\":[{\"retryDelay\":\"0.25s\"}]}";
  const string Gone = "{\"code\":14}";

  public static readonly Dictionary<string, Func<Task>> All = new Dictionary<string, Func<Task>> {
    ["retry_waits"] = Waits, ["retry_never"] = Never, ["retry_same_update"] = SameUpdate, ["retry_budget"] = Budget,
    ["retry_deadline"] = Deadline, ["servers_take_turns"] = TakeTurns, ["servers_health"] = Health,
    ["targets"] = Targets, ["proxy"] = Proxy, ["retry_stream"] = WaitsBeforeStreams, ["redirect"] = Redirect,
    ["retry_queries"] = AsksAgain,
  };

  // Answers as a test says, and remembers what it was asked. No time passes.
  sealed class Fake : ITransport {
    public readonly List<string> Urls = new List<string>(), Bodies = new List<string>();
    public readonly List<double> Delays = new List<double>();
    public Func<string, (int, string)> Answer;

    public Task<IAnswer> Post(string url, IDictionary<string, string> headers, string body, bool opensStream,
        CancellationToken cancel) {
      Urls.Add(url);
      Bodies.Add(body);
      var (status, text) = Answer(url);
      return Task.FromResult<IAnswer>(new FakeAnswer { Status = status, Text = text });
    }

    public Task Delay(TimeSpan delay, CancellationToken cancel) {
      Delays.Add(delay.TotalMilliseconds);
      // The longest are those after which there is no answer in time.
      return delay.TotalSeconds < 10 ? Task.CompletedTask : Task.Delay(delay, cancel);
    }

    public void Dispose() {}
  }

  sealed class FakeAnswer : IAnswer {
    public int Status { get; set; }
    public string Text;

    public string StreamId => null;

    public Task<string> ReadLine(CancellationToken cancel) {
      var line = Text;
      Text = null;
      return Task.FromResult(line);
    }

    public void Dispose() {}
  }

  static Client NewClient(Fake fake, string target = "localhost:1") =>
    new Client(new ClientOptions { Target = target, Transport = fake, Timeout = TimeSpan.FromSeconds(100) });

  static Fake Answers(params (int, string)[] answers) {
    var left = new Queue<(int, string)>(answers);
    return new Fake { Answer = url => left.Dequeue() };
  }

  static async Task Waits() {
    var fake = Answers((429, Busy), (503, Gone), (200, "{\"cost\":3}"));
    Equal(3.0, (await NewClient(fake).Map("m").FindPathAsync((0, 0), (1, 1))).Cost);
    Equal(true, fake.Delays[0] >= 250 && fake.Delays[0] <= 375 && fake.Delays[1] >= 150 && fake.Delays[1] <= 225);
    fake = Answers((503, Gone), (503, Gone), (503, Gone), (503, Gone));
    await Fails(Code.Unavailable, "", () => NewClient(fake).Map("m").FindPathAsync((0, 0), (1, 1)));
  }

  static async Task Never() {
    foreach (var answer in new[] { (400, "{\"code\":3}"), (429, "{\"code\":8}"), (504, "{\"code\":4}"), (200, "<html>") }) {
      await Fails<WaystarError>(() => NewClient(Answers(answer)).Map("m").FindPathAsync((0, 0), (1, 1)));
    }
    foreach (var answer in new[] { (503, Gone), (429, Busy) }) {
      var update = new UpdateMapRequest { Map = "m", Edits = { Edits.RemoveObstacle("crate") } };
      await Fails<WaystarError>(() => NewClient(Answers(answer)).CallAsync(MapService.UpdateMap, update));
      var delete = new DeleteMapRequest { Map = "m" };
      await Fails<WaystarError>(() => NewClient(Answers(answer)).CallAsync(MapService.DeleteMap, delete));
    }
  }

  static async Task SameUpdate() {
    var fake = Answers((503, Gone), (429, Busy), (200, "{\"version\":{\"epoch\":\"5\",\"revision\":\"2\"}}"), (200, "{}"));
    var client = NewClient(fake);
    await client.Map("m").UpdateAsync(Edits.RemoveObstacle("crate"));
    Equal(1, fake.Bodies.Distinct().Count());
    Equal(true, fake.Bodies[0].Contains("\"requestId\":\"") && fake.Bodies[0].Contains("\"requestTime\":\""));
    await client.Map("m").FindPathAsync((0, 0), (1, 1));
    Equal(true, fake.Bodies.Last().Contains("\"view\":{\"leastVersion\":{\"epoch\":\"5\",\"revision\":\"2\"}}"));
  }

  static async Task Budget() {
    var fake = new Fake { Answer = url => (503, Gone) };
    var client = NewClient(fake);
    for (var i = 0; i < 100; ++i) {
      await Fails<WaystarError>(() => client.Map("m").FindPathAsync((0, 0), (1, 1)));
    }
    var calls = fake.Urls.Count;
    await Fails<WaystarError>(() => client.Map("m").FindPathAsync((0, 0), (1, 1)));
    Equal(calls + 1, fake.Urls.Count);
  }

  static async Task Deadline() {
    var fake = Answers((429, Busy));
    await Fails(Code.ResourceExhausted, "", () =>
      NewClient(fake).Map("m").FindPathAsync((0, 0), (1, 1), timeout: TimeSpan.FromMilliseconds(200)));
  }

  static async Task WaitsBeforeStreams() {
    var fake = Answers((429, Busy), (404, "{\"code\":5}"));
    await Fails(Code.NotFound, "", () => NewClient(fake).Map("m").WatchAsync(each => {}));
    Equal(true, fake.Delays.Single() >= 250);
  }

  // A server that stops may cancel a stream.
  static async Task AsksAgain() {
    var fake = Answers((200, "{\"error\":{\"code\":1}}"), (204, ""),
      (200, "{\"result\":{\"answers\":[{\"id\":\"1\",\"answer\":{\"cost\":3}}]}}"), (204, ""));
    var client = NewClient(fake);
    Equal(3.0, (await client.StreamPaths().FindPathAsync(client.Map("m").Query((0, 0), (1, 1)))).Cost);
  }

  static async Task TakeTurns() {
    var fake = new Fake {
      Answer = url => url.Contains("/grpc.") ? (200, "{\"status\":\"SERVING\"}") : url.Contains("//a:") ? (503, Gone) : (200, "{}"),
    };
    var client = NewClient(fake, "http://a:1,b:2, http://c:3/");
    for (var i = 0; i < 6; ++i) {
      await client.Map("m").FindPathAsync((0, 0), (1, 1));
    }
    var calls = fake.Urls.Where(url => !url.Contains("/grpc.")).ToList();
    Equal(true, calls.Count(url => url.StartsWith("http://b:2/waystar.v1.PathService/FindPath")) >= 2);
    Equal(true, calls.Count(url => url.StartsWith("http://c:3/waystar.v1.PathService/FindPath")) >= 2);
    await Fails(Code.FailedPrecondition, "", () => client.Map("m").UpdateAsync(Edits.RemoveObstacle("crate")));
  }

  static async Task Health() {
    var fake = new Fake {
      Answer = url => (200, url.Contains("/grpc.") && url.Contains("//a:") ? "{\"status\":\"NOT_SERVING\"}" : "{\"status\":\"SERVING\"}"),
    };
    var client = NewClient(fake, "a:1,b:2");
    for (var i = 0; i < 4; ++i) {
      await client.Map("m").FindPathAsync((0, 0), (1, 1));
    }
    Equal(4, fake.Urls.Count(url => url == "http://b:2/waystar.v1.PathService/FindPath"));
  }

  static async Task Targets() {
    await Fails<ArgumentException>(() => throw new Exception(new Client(new ClientOptions {
      Target = "http://10.0.0.1:8080", Token = "secret",
    }).ToString()));
    await Fails<ArgumentException>(() => throw new Exception(new Client(new ClientOptions {
      Target = "https://10.0.0.1:8080,http://10.0.0.1:8081", Token = "secret",
    }).ToString()));
    await Fails<ArgumentException>(() => throw new Exception(new Client(new ClientOptions { Token = "a b" }).ToString()));
    new Client(new ClientOptions { Target = "https://10.0.0.1:8080,127.1.2.3:80,localhost", Token = "secret" }).Dispose();
  }

  static async Task Proxy() {
    await Fails(Code.Unauthenticated, "", () => NewClient(Answers((401, "<html>"))).Map("m").FindPathAsync((0, 0), (1, 1)));
    var fake = Answers((502, "Bad Gateway"), (200, "{}"));
    await NewClient(fake).Map("m").FindPathAsync((0, 0), (1, 1));
  }

  // A token must not follow a proxy to another place.
  static async Task Redirect() {
    var listener = new TcpListener(IPAddress.Loopback, 0);
    listener.Start();
    var answers = Task.Run(async () => {
      using (var connection = await listener.AcceptTcpClientAsync())
      using (var writer = new StreamWriter(connection.GetStream())) {
        await writer.WriteAsync("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
      }
    });
    using (var client = Tests.NewClient(listener.LocalEndpoint.ToString(), "secret")) {
      await Fails(Code.Internal, "", () => client.Map("m").FindPathAsync((0, 0), (1, 1)));
    }
    await answers;
    listener.Stop();
  }
}
