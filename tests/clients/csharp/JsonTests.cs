using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Waystar;
using Waystar.V1;
using static Tests;

static class JsonTests {
  public static readonly Dictionary<string, Func<Task>> All = new Dictionary<string, Func<Task>> {
    ["json_writes"] = Writes, ["json_reads"] = Reads, ["json_rejects"] = Rejects, ["json_errors"] = Errors,
  };

  static Task Writes() {
    var query = new FindPathRequest {
      Map = "a\"\\\n\u00e9", Start = new Location { Cell = new Cell() }, PathForm = PathForm.Corners,
      Goals = { new Location { Position = new Position { X = -0.1, Y = 1e300 } }, new Location { Node = "" } },
      MaxExpansions = ulong.MaxValue, MaxCost = 0, WithSummary = true, Tolerance = double.PositiveInfinity,
    };
    Equal("{\"map\":\"a\\u0022\\u005c\\u000a\u00e9\",\"start\":{\"cell\":{}},\"goals\":[{\"position\":{\"x\":-0.1," +
      "\"y\":1E+300}},{\"node\":\"\"}],\"pathForm\":2,\"maxExpansions\":\"18446744073709551615\"," +
      "\"tolerance\":\"Infinity\",\"withSummary\":true,\"maxCost\":0}", JsonWriter.Write(query));
    var update = new UpdateMapRequest {
      RequestTime = new DateTime(2026, 2, 3, 4, 5, 6, DateTimeKind.Utc).AddMilliseconds(7),
      Edits = { new Edit { PutObstacle = new Obstacle { Lifetime = TimeSpan.FromMilliseconds(2500) } } },
    };
    Equal("{\"edits\":[{\"putObstacle\":{\"lifetime\":\"2.5s\"}}],\"requestTime\":\"2026-02-03T04:05:06.0070000Z\"}",
      JsonWriter.Write(update));
    Equal("{\"data\":\"AAH/\"}", JsonWriter.Write(new CreateMapRequest { Data = new byte[] { 0, 1, 255 } }));
    return Task.CompletedTask;
  }

  static Task Reads() {
    var answer = FindPathResponse.Read(new JsonReader(
      " { \"later\" : [ { \"a\" : [ ] , \"b\" : \"]}\" } , null , -1.5e3 ] , \"outcome\" : \"OUTCOME_FOUND\" ," +
      "\"reason\":\"OUTCOME_REASON_OF_LATER\",\"cost\":\"Infinity\",\"leastCost\":1e-3,\"path\":{\"form\":2," +
      "\"points\":[{},{\"x\":-2147483648,\"y\":7}],\"nodes\":[\"a\\u00e9\\n\\\"\"],\"corridor\":[4294967295]}," +
      "\"info\":{\"version\":{\"epoch\":\"18446744073709551615\",\"revision\":\"3\"}," +
      "\"statistics\":{\"searchTime\":\"0.000123s\"}}} "));
    Equal(Outcome.Found, answer.Outcome);
    Equal(OutcomeReason.Unspecified, answer.Reason);
    Equal(double.PositiveInfinity, answer.Cost);
    Equal(0.001, answer.LeastCost);
    Equal(PathForm.Corners, answer.Path.Form);
    Equal((2, 0, int.MinValue, 7), (answer.Path.Points.Count, answer.Path.Points[0].X, answer.Path.Points[1].X,
      answer.Path.Points[1].Y));
    Equal("a\u00e9\n\"", answer.Path.Nodes[0]);
    Equal(uint.MaxValue, answer.Path.Corridor[0]);
    Equal((ulong.MaxValue, 3ul), (answer.Info.Version.Epoch, answer.Info.Version.Revision));
    Equal(TimeSpan.FromTicks(1230), answer.Info.Statistics.SearchTime.Value);
    var map = MapInfo.Read(new JsonReader("{\"createTime\":\"2026-02-03T04:05:06.123456789Z\",\"memoryBytes\":\"-5\"}"));
    Equal(new DateTime(2026, 2, 3, 4, 5, 6).AddTicks(1234567), new DateTime(map.CreateTime.Value.Ticks / 10 * 10 + 7));
    Equal((DateTimeKind.Utc, -5L), (map.CreateTime.Value.Kind, map.MemoryBytes));
    var metric = Metric.Read(new JsonReader("{\"labels\":{\"a\":\"b\",\"c\":\"\"},\"value\":0}"));
    Equal((2, "b", 0.0), (metric.Labels.Count, metric.Labels["a"], metric.Value.Value));
    return Task.CompletedTask;
  }

  static async Task Rejects() {
    foreach (var text in new[] {
      "", "{", "[]", "{\"cost\"", "{\"cost\":", "{\"cost\":x}", "{\"path\":{\"points\":[{}", "{\"goalIndex\":1.5}",
      "{\"path\":{\"nodes\":[\"a\\", "{\"path\":{\"nodes\":[\"\\u12", "{\"cost\" 1}", "<html>", "{\"a\":[1,2",
    }) {
      await Fails<FormatException>(() => {
        FindPathResponse.Read(new JsonReader(text));
        throw new Exception($"\"{text}\" is read");
      });
    }
  }

  static Task Errors() {
    var error = WaystarError.Read(new JsonReader("{\"code\":8,\"message\":\"busy\",\"details\":[" +
      "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"0.250s\"}," +
      "{\"reason\":\"NOT_OURS\",\"domain\":\"proxy\"}," +
      "{\"fieldViolations\":[{\"field\":\"x\"}]}," +
      "{\"reason\":\"QUEUE_FULL\",\"domain\":\"waystar\",\"metadata\":{\"field\":\"goals[0]\"}}]}"));
    Equal((Code.ResourceExhausted, "busy", "QUEUE_FULL", "goals[0]", 250.0),
      (error.Code, error.Message, error.Reason, error.Field, error.RetryDelay.TotalMilliseconds));
    return Task.CompletedTask;
  }
}
