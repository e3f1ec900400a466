// Agents that walk to random cells of a map, and look for another way when it changes below their feet. Put it on an
// empty object of a scene and give it a prefab.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Cysharp.Net.Http;
using Grpc.Core;
using UnityEngine;
using Waystar.V1;

public sealed class Walkers : MonoBehaviour
{
    [SerializeField] string address = "http://localhost:7450";
    [SerializeField] string map = "twenty-by-fifty";
    [SerializeField] Vector2Int size = new Vector2Int(20, 50);
    [SerializeField] Transform prefab;
    [SerializeField] int count = 100;
    [SerializeField] float speed = 4;

    sealed class Walker
    {
        public Transform Body;
        public Cell Cell;
        public Queue<Cell> Way = new Queue<Cell>();
        public bool NeedsWay = true;
    }

    readonly List<Walker> walkers = new List<Walker>();
    readonly CancellationTokenSource quitting = new CancellationTokenSource();
    WaystarClient client;
    bool isAsking;

    void Start()
    {
        // The server speaks HTTP/2 without encryption by default, which Unity's own handler does not.
        client = new WaystarClient(address, new YetAnotherHttpHandler { Http2Only = true });
        for (var i = 0; i < count; ++i)
        {
            walkers.Add(new Walker { Body = Instantiate(prefab, transform), Cell = RandomCell() });
        }
        _ = WatchMap();
    }

    void OnDestroy()
    {
        quitting.Cancel();
        client.Dispose();
    }

    void Update()
    {
        foreach (var walker in walkers)
        {
            Step(walker);
        }
        // One call for all of them, and never two at a time.
        if (!isAsking && walkers.Any(walker => walker.NeedsWay))
        {
            _ = FindWays(walkers.Where(walker => walker.NeedsWay).ToList());
        }
    }

    void Step(Walker walker)
    {
        walker.Body.position = Vector3.MoveTowards(walker.Body.position, PlaceOf(walker.Cell), speed * Time.deltaTime);
        if (walker.NeedsWay || walker.Body.position != PlaceOf(walker.Cell))
        {
            return;
        }
        if (walker.Way.Count == 0)
        {
            walker.NeedsWay = true;
            return;
        }
        walker.Cell = walker.Way.Dequeue();
    }

    // Unity comes back to its main thread after each await, so nothing here needs a lock.
    async Task FindWays(List<Walker> asking)
    {
        isAsking = true;
        try
        {
            var queries = asking.Select(walker => new PathQuery
            {
                Start = new Location { Cell = walker.Cell },
                Goals = { new Location { Cell = RandomCell() } },
            });
            var results = await client.FindPaths(map, queries, quitting.Token);
            for (var i = 0; i < asking.Count; ++i)
            {
                TakeWay(asking[i], results[i]);
            }
        }
        catch (RpcException error)
        {
            // They stay where they are; the next frame asks again.
            var (reason, field) = WaystarClient.Refusal(error);
            Debug.LogWarning($"{error.StatusCode} {reason} {field}: {error.Status.Detail}");
        }
        finally
        {
            isAsking = false;
        }
    }

    // Random cells may lie in a wall, or where nobody gets to: such a walker asks again for another goal.
    void TakeWay(Walker walker, FindPathsResult result)
    {
        if (result.ResultCase == FindPathsResult.ResultOneofCase.Answer && result.Answer.Outcome == Outcome.Found)
        {
            walker.Way = new Queue<Cell>(result.Answer.Path.Points.Skip(1));
            walker.NeedsWay = false;
        }
        else if (result.ResultCase == FindPathsResult.ResultOneofCase.Problem)
        {
            walker.Cell = RandomCell();
        }
    }

    async Task WatchMap()
    {
        try
        {
            await client.Watch(map, revision => Reconsider(revision.ChangedAreas), quitting.Token);
        }
        catch (RpcException error) when (error.StatusCode != StatusCode.Cancelled)
        {
            Debug.LogWarning($"The watch of {map} has ended: {error.Status.Detail}");
        }
        catch (Exception) when (quitting.IsCancellationRequested)
        {
        }
    }

    // Only those whose way leads through an area that has changed, or past one, need another.
    void Reconsider(IList<ChangedArea> changed)
    {
        bool HasChanged(Cell cell) => changed.Any(area => IsNear(area.Rectangle, cell));
        foreach (var walker in walkers.Where(walker => walker.Way.Any(HasChanged)))
        {
            walker.NeedsWay = true;
        }
    }

    // A diagonal step also needs the cells beside it.
    static bool IsNear(Rectangle area, Cell cell) =>
        cell.X >= area.X - 1 && cell.X <= area.X + area.Width && cell.Y >= area.Y - 1 && cell.Y <= area.Y + area.Height;

    Cell RandomCell() => new Cell { X = UnityEngine.Random.Range(0, size.x), Y = UnityEngine.Random.Range(0, size.y) };

    // Cells grow downwards, Unity's world away from the camera.
    static Vector3 PlaceOf(Cell cell) => new Vector3(cell.X, 0, -cell.Y);
}
