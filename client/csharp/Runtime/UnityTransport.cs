#if UNITY_2019_4_OR_NEWER
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using UnityEngine.Networking;

namespace Waystar {
  /// <summary>
  /// HTTP by UnityWebRequest, for all platforms of Unity, pages of the web among them. All calls are made on
  /// the main thread, and look for what has arrived once a frame.
  /// </summary>
  public sealed class UnityTransport : ITransport {
    readonly Func<CertificateHandler> newCertificateHandler;

    /// <param name="newCertificateHandler">Makes what decides whom to trust, if that is not the system.</param>
    public UnityTransport(Func<CertificateHandler> newCertificateHandler = null) {
      this.newCertificateHandler = newCertificateHandler;
    }

    public void Dispose() {}

    public Task Delay(TimeSpan delay, CancellationToken cancel) {
      var end = Clock.Now + delay;
      return Until(() => Clock.Now >= end, cancel);
    }

    public async Task<IAnswer> Post(string url, IDictionary<string, string> headers, string body,
        bool opensStream, CancellationToken cancel) {
      var upload = body.Length == 0 ? null : new UploadHandlerRaw(Encoding.UTF8.GetBytes(body));
      var answer = new Answer(new UnityWebRequest(url, UnityWebRequest.kHttpVerbPOST, new Lines(), upload));
      answer.Request.certificateHandler = newCertificateHandler?.Invoke();
      // A redirect must not get the token.
      answer.Request.redirectLimit = 0;
      answer.Request.SetRequestHeader("Content-Type", "application/json");
      foreach (var header in headers) {
        answer.Request.SetRequestHeader(header.Key, header.Value);
      }
      try {
        answer.Request.SendWebRequest();
        await Until(() => answer.Request.isDone || answer.Status > 0, cancel);
        return answer.Status > 0 ? answer : throw new IOException(answer.Request.error);
      } catch {
        answer.Dispose();
        throw;
      }
    }

    // Unity goes on with a task that has yielded in the next frame. A page of the web has no other timers.
    static async Task Until(Func<bool> condition, CancellationToken cancel) {
      cancel.ThrowIfCancellationRequested();
      while (!condition()) {
        await Task.Yield();
        cancel.ThrowIfCancellationRequested();
      }
    }

    sealed class Lines : DownloadHandlerScript {
      readonly List<byte> line = new List<byte>();

      public Queue<string> Ready { get; } = new Queue<string>();

      public string TakeRest() {
        var rest = line.Count == 0 ? null : Encoding.UTF8.GetString(line.ToArray());
        line.Clear();
        return rest;
      }

      protected override bool ReceiveData(byte[] data, int length) {
        for (var i = 0; i < length; ++i) {
          if (data[i] == '\n') {
            Ready.Enqueue(TakeRest() ?? "");
          } else {
            line.Add(data[i]);
          }
        }
        return true;
      }
    }

    sealed class Answer : IAnswer {
      public readonly UnityWebRequest Request;

      public Answer(UnityWebRequest request) {
        Request = request;
      }

      public int Status => (int)Request.responseCode;
      public string StreamId => Request.GetResponseHeader("Waystar-Stream");

      public async Task<string> ReadLine(CancellationToken cancel) {
        var lines = (Lines)Request.downloadHandler;
        await Until(() => lines.Ready.Count > 0 || Request.isDone, cancel);
        if (lines.Ready.Count > 0) {
          return lines.Ready.Dequeue();
        }
        return Request.error == null || Status >= 400 ? lines.TakeRest() : throw new IOException(Request.error);
      }

      // Aborts the request if it still runs.
      public void Dispose() => Request.Dispose();
    }
  }
}
#endif
