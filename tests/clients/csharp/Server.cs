using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

// A server with the samples, and a data folder of its own.
sealed class Server : IDisposable {
  // Those that a failed test leaves behind are stopped at the end.
  public static readonly List<Server> All = new List<Server>();
  // Nobody else takes the port of a server that is to be started again on an address of its own.
  readonly string host = $"127.{Process.GetCurrentProcess().Id % 64 + 64}." +
    $"{Process.GetCurrentProcess().Id / 64 % 256}.{All.Count}";
  readonly string flags, data;
  Process process;
  int port;

  public Server(string flags = "") {
    All.Add(this);
    data = $"{Tests.Work}/data{All.Count}";
    this.flags = $"--maps_dir={Tests.Samples} --data_dir={data} --max_queue_time=1m " +
      $"--queue_target=1m {flags}";
    Start();
  }

  public string Address => $"{(flags.Contains("--http_tls") ? "https" : "http")}://{host}:{port}";

  // Returns when the server answers, at the port that it had.
  public void Start() {
    Directory.CreateDirectory(data);
    process = Process.Start(new ProcessStartInfo($"{Tests.Bin}/waystar-server",
      $"--listen={host}:0 --http_listen={host}:{port} {flags}") {
      RedirectStandardError = true, UseShellExecute = false,
    });
    var log = process.StandardError;
    for (string line; (line = log.ReadLine()) != null;) {
      var found = Regex.Match(line, @"event=serving_http .*port=(\d+)");
      if (found.Success) {
        port = int.Parse(found.Groups[1].Value);
        // A full pipe would hold up the server.
        Task.Run(() => log.ReadToEnd());
        return;
      }
    }
    throw new Exception("the server does not start");
  }

  public void Kill() {
    process.Kill();
    process.WaitForExit();
  }

  // The maps of the samples get another epoch when it is started again.
  public void KillAndForget() {
    Kill();
    Directory.Delete(data, true);
  }

  // Has the server end its calls, and stop.
  public void Drain() {
    Signal("TERM");
    process.WaitForExit();
  }

  public void Signal(string name) => Process.Start("kill", $"-{name} {process.Id}").WaitForExit();

  // True if none of its threads runs.
  public bool IsStopped => Directory.GetDirectories($"/proc/{process.Id}/task").All(
    task => File.ReadAllText($"{task}/stat").Contains(") T "));

  public void Dispose() {
    if (!process.HasExited) {
      Kill();
    }
  }
}
