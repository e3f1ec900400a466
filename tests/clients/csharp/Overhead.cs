using System;
using System.Net.Http;
using System.Text;
using System.Threading.Tasks;
using Waystar;

// Prints how long FindPathAsync takes, and a bare POST of the same JSON, whose answer nobody parses: overhead.exe SERVER
static class Overhead {
  const int Rounds = 20, Calls = 200;
  const string Query = "{\"map\":\"tiles\",\"start\":{\"cell\":{\"x\":0,\"y\":0}},\"goals\":[{\"cell\":{\"x\":15,\"y\":9}}]}";

  static void Main(string[] arguments) => Measure(arguments[0]).Wait();

  static async Task Measure(string server) {
    double ours = double.MaxValue, bare = double.MaxValue;
    using (var client = new Client(new ClientOptions { Target = server }))
    using (var http = new HttpClient()) {
      http.DefaultRequestHeaders.ExpectContinue = false;
      var tiles = client.Map("tiles");
      for (var round = 0; round < Rounds; ++round) {
        ours = Math.Min(ours, await MedianUs(() => tiles.FindPathAsync((0, 0), (15, 9))));
        bare = Math.Min(bare, await MedianUs(() => Post(http, server + "/waystar.v1.PathService/FindPath")));
      }
    }
    Console.WriteLine($"FindPathAsync {ours:F0} us, a bare POST {bare:F0} us, ratio {ours / bare:F2}");
  }

  static async Task<string> Post(HttpClient http, string url) {
    using (var answer = await http.PostAsync(url, new StringContent(Query, Encoding.UTF8, "application/json"))) {
      return await answer.Content.ReadAsStringAsync();
    }
  }

  static async Task<double> MedianUs(Func<Task> call) {
    var times = new double[Calls];
    for (var i = 0; i < Calls; ++i) {
      var watch = System.Diagnostics.Stopwatch.StartNew();
      await call();
      times[i] = watch.Elapsed.TotalMilliseconds * 1000;
    }
    Array.Sort(times);
    return times[Calls / 2];
  }
}
