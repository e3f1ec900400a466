// One channel to the server for the whole game, and the calls that a game makes, as awaitable methods.
// Needs nothing of Unity: it runs in any C# program.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Google.Protobuf;
using Google.Rpc;
using Grpc.Core;
using Grpc.Net.Client;
using Waystar.V1;

public sealed class WaystarClient : IDisposable
{
    // gRPC has no deadline of its own, and the server drops what nobody waits for any more.
    static readonly TimeSpan Timeout = TimeSpan.FromMilliseconds(200);

    readonly GrpcChannel channel;
    readonly PathService.PathServiceClient paths;
    readonly MapService.MapServiceClient maps;

    // handler: in Unity a YetAnotherHttpHandler; null takes the one of .NET.
    public WaystarClient(string address, System.Net.Http.HttpMessageHandler handler = null)
    {
        channel = GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler, DisposeHttpClient = true });
        paths = new PathService.PathServiceClient(channel);
        maps = new MapService.MapServiceClient(channel);
    }

    public void Dispose() => channel.Dispose();

    // All of the queries on one revision of the map: one call a frame for all agents that need a way.
    public async Task<IList<FindPathsResult>> FindPaths(string map, IEnumerable<PathQuery> queries, CancellationToken cancel)
    {
        var request = new FindPathsRequest { Map = map, Queries = { queries } };
        var response = await paths.FindPathsAsync(request, deadline: DateTime.UtcNow + Timeout, cancellationToken: cancel);
        return response.Results;
    }

    // requestId makes a repetition harmless: a batch is applied once, however often it is sent.
    public async Task<Waystar.V1.Version> Block(string map, Cell cell, string requestId, CancellationToken cancel)
    {
        var edit = new Edit { Block = new Shape { Cells = { cell } } };
        var request = new UpdateMapRequest { Map = map, Edits = { edit }, RequestId = requestId };
        var response = await maps.UpdateMapAsync(request, deadline: DateTime.UtcNow + Timeout, cancellationToken: cancel);
        return response.Version;
    }

    // Calls changed with each revision, until it is cancelled or the server ends the watch.
    public async Task Watch(string map, Action<MapRevision> changed, CancellationToken cancel)
    {
        using var call = maps.WatchMap(new WatchMapRequest { Map = map }, cancellationToken: cancel);
        while (await call.ResponseStream.MoveNext(cancel))
        {
            if (call.ResponseStream.Current.EventCase == WatchMapResponse.EventOneofCase.Commit)
            {
                changed(call.ResponseStream.Current.Commit);
            }
        }
    }

    // The reason and the field that the server gives with every refusal: ("OFF_MAP", "goals[0]").
    public static (string Reason, string Field) Refusal(RpcException error)
    {
        var bytes = error.Trailers.GetValueBytes("grpc-status-details-bin");
        var detail = bytes == null ? null : Google.Rpc.Status.Parser.ParseFrom(bytes).Details
            .FirstOrDefault(any => any.Is(ErrorInfo.Descriptor));
        if (detail == null)
        {
            return ("", "");
        }
        var info = detail.Unpack<ErrorInfo>();
        return (info.Reason, info.Metadata.TryGetValue("field", out var field) ? field : "");
    }
}
