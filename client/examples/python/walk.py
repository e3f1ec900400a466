"""Finds a way through a yard, has a crate put in it, hears of that, and finds the way round.

    walk.py [SERVER]
"""

import sys

import grpc
from google.rpc import error_details_pb2, status_pb2
from waystar.v1 import map_service_pb2, map_service_pb2_grpc
from waystar.v1 import path_service_pb2, path_service_pb2_grpc, types_pb2

MAP = "python-yard"
YARD = ["..........", "....##....", "....##....", ".........."]
# gRPC has no deadline of its own: give one to each call.
TIMEOUT = 5


def refusal(error):
    """The reason and the field that the server gives with every refusal."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return info.reason, info.metadata["field"]
    return "", ""


def find(paths, goal):
    answer = paths.FindPath(
        path_service_pb2.FindPathRequest(
            map=MAP,
            start=path_service_pb2.Location(cell=types_pb2.Cell(x=0, y=1)),
            goals=[path_service_pb2.Location(cell=goal)],
            path_form=path_service_pb2.PATH_FORM_CORNERS,
        ),
        timeout=TIMEOUT,
    )
    points = " ".join(f"{point.x},{point.y}" for point in answer.path.points)
    print(f"revision {answer.info.version.revision}: cost {answer.cost:.4f} by {points}")


def main():
    server = sys.argv[1] if len(sys.argv) > 1 else "localhost:7450"
    with grpc.insecure_channel(server) as channel:
        maps = map_service_pb2_grpc.MapServiceStub(channel)
        paths = path_service_pb2_grpc.PathServiceStub(channel)
        maps.CreateMap(map_service_pb2.CreateMapRequest(map=MAP, rows=YARD), timeout=TIMEOUT)
        try:
            watch = maps.WatchMap(map_service_pb2.WatchMapRequest(map=MAP))
            # The first event says that from here on nothing is missed.
            next(watch)

            find(paths, types_pb2.Cell(x=9, y=1))
            crate = types_pb2.Shape(rectangles=[types_pb2.Rectangle(x=4, y=0, width=2, height=1)])
            maps.UpdateMap(
                map_service_pb2.UpdateMapRequest(map=MAP, edits=[map_service_pb2.Edit(block=crate)]),
                timeout=TIMEOUT,
            )
            change = next(watch).commit
            print(f"revision {change.version.revision}: {change.changed_cells} cells changed")
            watch.cancel()
            find(paths, types_pb2.Cell(x=9, y=1))

            try:
                find(paths, types_pb2.Cell(x=10, y=1))
            except grpc.RpcError as error:
                reason, field = refusal(error)
                print(f"refused: {error.code().name} {reason} ({field}): {error.details()}")
        finally:
            maps.DeleteMap(map_service_pb2.DeleteMapRequest(map=MAP), timeout=TIMEOUT)


if __name__ == "__main__":
    main()
