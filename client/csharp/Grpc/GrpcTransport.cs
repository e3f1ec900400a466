using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Google.Rpc;
using Grpc.Core;
using Grpc.Net.Client;
using GrpcCall = Grpc.Core.AsyncDuplexStreamingCall<Google.Protobuf.IMessage, Google.Protobuf.IMessage>;
using GrpcMethod = Grpc.Core.Method<Google.Protobuf.IMessage, Google.Protobuf.IMessage>;
using GrpcMessage = Google.Protobuf.IMessage;
using GrpcStatus = Google.Rpc.Status;

namespace Waystar {
  using Protos;

  /// <summary>gRPC, for services: it answers as the server's gateway does. The target is the address of gRPC.</summary>
  public sealed class GrpcTransport : ITransport {
    const string Busy = "{\"code\":8,\"details\":[{\"retryDelay\":\"0.1s\"}]}";
    // A stream says so often that it is there.
    static readonly TimeSpan silence = TimeSpan.FromSeconds(5);
    static readonly JsonParser parser = new JsonParser(JsonParser.Settings.Default);
    static readonly JsonFormatter formatter = new JsonFormatter(
      JsonFormatter.Settings.Default.WithTypeRegistry(TypeRegistry.FromFiles(ErrorDetailsReflection.Descriptor)));
    static readonly Dictionary<string, MethodDescriptor> methods = new[] {
      PathServiceReflection.Descriptor, MapServiceReflection.Descriptor, PictureServiceReflection.Descriptor,
      ServerServiceReflection.Descriptor, Grpc.Health.V1.HealthReflection.Descriptor,
    }.SelectMany(file => file.Services).SelectMany(each => each.Methods).ToDictionary(each => $"/{each.Service.FullName}/{each.Name}");

    readonly HttpMessageHandler handler;
    readonly ConcurrentDictionary<string, GrpcChannel> channels = new ConcurrentDictionary<string, GrpcChannel>();
    readonly ConcurrentDictionary<string, Answer> streams = new ConcurrentDictionary<string, Answer>();

    /// <param name="handler">Says whom to trust and which certificate to show, for example.</param>
    public GrpcTransport(HttpMessageHandler handler = null) {
      this.handler = handler ?? new SocketsHttpHandler {
        UseProxy = false, AllowAutoRedirect = false, EnableMultipleHttp2Connections = true, KeepAlivePingDelay = silence, KeepAlivePingTimeout = silence,
      };
    }

    public void Dispose() => handler.Dispose();

    public Task Delay(TimeSpan delay, CancellationToken cancel) => Task.Delay(delay, cancel);

    public async Task<IAnswer> Post(string url, IDictionary<string, string> headers, string body,
        bool opensStream, CancellationToken cancel) {
      var uri = new Uri(url);
      var method = methods[uri.AbsolutePath];
      var message = body.Length == 0 ? null : parser.Parse(body, method.InputType);
      if (headers.TryGetValue("Waystar-Stream", out var id)) {
        return await streams[id].Send(message);
      }
      var metadata = new Metadata();
      if (headers.TryGetValue("Authorization", out var token)) {
        metadata.Add("authorization", token);
      }
      DateTime? deadline = null;
      if (headers.TryGetValue("Waystar-Timeout", out var timeout)) {
        deadline = DateTime.UtcNow.AddMilliseconds(double.Parse(timeout.Replace("ms", ""), CultureInfo.InvariantCulture));
      }
      var channel = channels.GetOrAdd(uri.GetLeftPart(UriPartial.Authority),
        address => GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler, MaxReceiveMessageSize = null }));
      // All kinds of calls are the same to a server, which knows how many messages to expect.
      var type = new GrpcMethod(MethodType.DuplexStreaming, method.Service.FullName, method.Name,
        MarshallerOf(method.InputType), MarshallerOf(method.OutputType));
      var call = channel.CreateCallInvoker().AsyncDuplexStreamingCall(type, null, new CallOptions(metadata, deadline));
      var answer = new Answer(call, streams);
      if (message != null) {
        await answer.Send(message);
      }
      if (!method.IsClientStreaming) {
        await answer.Send(null);
      }
      if (!opensStream) {
        using (answer) {
          var (name, content) = await answer.Next();
          return new Answer(name == "result" ? 200 : 500, formatter.Format(content));
        }
      }
      return answer;
    }

    static Marshaller<GrpcMessage> MarshallerOf(MessageDescriptor type) =>
      Marshallers.Create<GrpcMessage>(message => message.ToByteArray(), bytes => type.Parser.ParseFrom(bytes));

    sealed class Answer : IAnswer {
      readonly GrpcCall call;
      readonly ConcurrentDictionary<string, Answer> streams;
      string text;
      Task sent = Task.CompletedTask;
      Task<(string Name, GrpcMessage Message)> next;

      public Answer(GrpcCall call, ConcurrentDictionary<string, Answer> streams) {
        this.call = call;
        this.streams = streams;
        StreamId = Guid.NewGuid().ToString();
        streams[StreamId] = this;
      }

      public Answer(int status, string text = null) {
        Status = status;
        this.text = text;
      }

      public int Status { get; } = 200;
      public string StreamId { get; }

      /// <summary>Begins to send a message, or ends them with null.</summary>
      public async Task<IAnswer> Send(GrpcMessage message) {
        if (await Task.WhenAny(sent, Task.Delay(silence)) != sent) {
          return new Answer(429, Busy);
        }
        sent = message == null ? call.RequestStream.CompleteAsync() : call.RequestStream.WriteAsync(message);
        return new Answer(204);
      }

      public async Task<(string Name, GrpcMessage Message)> Next() {
        try {
          var hasMore = await call.ResponseStream.MoveNext(CancellationToken.None);
          return hasMore ? ("result", call.ResponseStream.Current) : ("error", new GrpcStatus());
        } catch (RpcException error) {
          var details = error.Trailers.GetValueBytes("grpc-status-details-bin");
          return ("error", details != null ? GrpcStatus.Parser.ParseFrom(details)
            : new GrpcStatus { Code = (int)error.StatusCode, Message = error.Status.Detail });
        }
      }

      public async Task<string> ReadLine(CancellationToken cancel) {
        if (call == null) {
          return Interlocked.Exchange(ref text, null);
        }
        next = next ?? Next();
        if (await Task.WhenAny(next, Task.Delay(silence, cancel)) != next) {
          return "";
        }
        var (name, message) = await next;
        next = null;
        return $"{{\"{name}\": {formatter.Format(message)}}}";
      }

      public void Dispose() {
        if (call != null) {
          streams.TryRemove(StreamId, out _);
          call.Dispose();
        }
      }
    }
  }
}
