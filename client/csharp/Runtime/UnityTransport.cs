#if UNITY_2019_4_OR_NEWER
using System;
using System.Collections.Generic;
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
      return Until(() => Clock.Now >= end, TimeSpan.MaxValue, cancel);
    }

    public async Task<IAnswer> Post(string url, IDictionary<string, string> headers, string body,
      bool opensStream, TimeSpan patience, CancellationToken cancel) {
      var lines = new Lines();
      var upload = body.Length == 0 ? null : new UploadHandlerRaw(Encoding.UTF8.GetBytes(body));
      var request = new UnityWebRequest(url, UnityWebRequest.kHttpVerbPOST, lines, upload);
      request.SetRequestHeader("Content-Type", "application/json");
      foreach (var header in headers) {
        request.SetRequestHeader(header.Key, header.Value);
      }
      request.certificateHandler = newCertificateHandler?.Invoke();
      var answer = new Answer(request, lines);
      try {
        request.SendWebRequest();
        await Until(() => request.isDone || request.responseCode > 0, patience, cancel);
        if (request.responseCode <= 0) {
          throw new WaystarError(Code.Unavailable, request.error);
        }
      } catch {
        answer.Dispose();
        throw;
      }
      return answer;
    }

    // Unity goes on with a task that has yielded in the next frame. A page of the web has no other timers.
    static async Task Until(Func<bool> condition, TimeSpan patience, CancellationToken cancel) {
      var start = Clock.Now;
      cancel.ThrowIfCancellationRequested();
      while (!condition()) {
        if (Clock.Now - start > patience) {
          throw new WaystarError(Code.DeadlineExceeded, "there was no answer in time");
        }
        await Task.Yield();
        cancel.ThrowIfCancellationRequested();
      }
    }

    sealed class Lines : DownloadHandlerScript {
      readonly Decoder decoder = Encoding.UTF8.GetDecoder();
      readonly StringBuilder line = new StringBuilder();

      public Queue<string> Ready { get; } = new Queue<string>();

      public string TakeRest() {
        var rest = line.Length == 0 ? null : line.ToString();
        line.Length = 0;
        return rest;
      }

      protected override bool ReceiveData(byte[] data, int length) {
        var text = new char[decoder.GetCharCount(data, 0, length)];
        decoder.GetChars(data, 0, length, text, 0);
        foreach (var c in text) {
          if (c == '\n') {
            Ready.Enqueue(line.ToString());
            line.Length = 0;
          } else {
            line.Append(c);
          }
        }
        return true;
      }
    }

    sealed class Answer : IAnswer {
      readonly UnityWebRequest request;
      readonly Lines lines;

      public Answer(UnityWebRequest request, Lines lines) {
        this.request = request;
        this.lines = lines;
      }

      public int Status => (int)request.responseCode;

      public string Header(string name) => request.GetResponseHeader(name);

      public async Task<string> ReadLine(TimeSpan patience, CancellationToken cancel) {
        await Until(() => lines.Ready.Count > 0 || request.isDone, patience, cancel);
        if (lines.Ready.Count > 0) {
          return lines.Ready.Dequeue();
        }
        if (request.error != null && Status < 400) {
          throw new WaystarError(Code.Unavailable, request.error);
        }
        return lines.TakeRest();
      }

      public void Dispose() {
        request.Abort();
        request.Dispose();
      }
    }
  }
}
#endif
