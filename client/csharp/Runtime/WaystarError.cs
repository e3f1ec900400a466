using System;
using System.Collections.Generic;

namespace Waystar {
  /// <summary>The codes of gRPC.</summary>
  public enum Code {
    Ok, Cancelled, Unknown, InvalidArgument, DeadlineExceeded, NotFound, AlreadyExists, PermissionDenied,
    ResourceExhausted, FailedPrecondition, Aborted, OutOfRange, Unimplemented, Internal, Unavailable, DataLoss,
    Unauthenticated,
  }

  /// <summary>A call or a part of it that failed. The message is for people.</summary>
  public sealed class WaystarError : Exception {
    string message;

    public WaystarError(Code code, string message, Exception cause = null) : base(message, cause) {
      Code = code;
      this.message = message;
    }

    public override string Message => message;
    public Code Code { get; private set; }
    /// <summary>One of V1.ErrorReason, or of a later server; empty if the server gave none.</summary>
    public string Reason { get; private set; } = "";
    /// <summary>The field of the request to blame, such as "goals[0]", or empty.</summary>
    public string Field { get; private set; } = "";
    /// <summary>After this time the call may be tried again; zero if the server does not ask for it.</summary>
    public TimeSpan RetryDelay { get; private set; }

    /// <summary>True if the same call may succeed later.</summary>
    internal bool IsTemporary => Code != Code.InvalidArgument && Code != Code.Unauthenticated &&
      Code != Code.PermissionDenied && Code != Code.Unimplemented && Code != Code.FailedPrecondition &&
      Code != Code.OutOfRange;

    /// <summary>Reads a google.rpc.Status.</summary>
    public static WaystarError Read(JsonReader json) {
      var error = new WaystarError(Code.Ok, "");
      while (json.NextName(out var name)) {
        switch (name) {
          case "code": error.Code = (Code)json.Int64(); break;
          case "message": error.message = json.String(); break;
          case "details": while (json.NextItem()) { error.ReadDetail(json); } break;
          default: json.Skip(); break;
        }
      }
      return error;
    }

    /// <summary>Returns the error of an answer of HTTP, which may be that of a proxy.</summary>
    internal static WaystarError OfAnswer(int status, string body) {
      try {
        var error = Read(new JsonReader(body));
        if (error.Code != Code.Ok) {
          return error;
        }
      } catch (FormatException) {
        // The status says enough.
      }
      var code = status == 401 ? Code.Unauthenticated : status == 403 ? Code.PermissionDenied :
        status == 404 ? Code.Unimplemented : status == 429 || status >= 502 && status <= 504 ? Code.Unavailable :
        status >= 500 ? Code.Unknown : Code.Internal;
      return new WaystarError(code, $"HTTP {status}: {body.Substring(0, Math.Min(body.Length, 200))}");
    }

    void ReadDetail(JsonReader json) {
      string domain = null, reason = "";
      var metadata = new Dictionary<string, string>();
      while (json.NextName(out var name)) {
        switch (name) {
          case "domain": domain = json.String(); break;
          case "reason": reason = json.String(); break;
          case "retryDelay": RetryDelay = json.Duration(); break;
          case "metadata": while (json.NextName(out var key)) { metadata[key] = json.String(); } break;
          default: json.Skip(); break;
        }
      }
      if (domain == "waystar") {
        Reason = reason;
        Field = metadata.TryGetValue("field", out var field) ? field : "";
      }
    }
  }
}
