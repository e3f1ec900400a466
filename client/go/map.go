package waystar

import (
	"cmp"
	"context"
	"crypto/rand"
	"iter"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "waystar.dev/proto/waystar/v1"
)

// Cell is a place on a grid.
func Cell(x, y int32) *pb.Location {
	return &pb.Location{Place: &pb.Location_Cell{Cell: &pb.Cell{X: x, Y: y}}}
}

// Position is a place in the units of the game.
func Position(x, y, z float64) *pb.Location {
	return &pb.Location{Place: &pb.Location_Position{Position: &pb.Position{X: x, Y: y, Z: z}}}
}

// Node is a place on a waypoint graph.
func Node(id string) *pb.Location { return &pb.Location{Place: &pb.Location_Node{Node: id}} }

// Rect is the shape of the cells from (x, y) on.
func Rect(x, y, width, height int32) *pb.Shape {
	return &pb.Shape{Rectangles: []*pb.Rectangle{{X: x, Y: y, Width: width, Height: height}}}
}

// Disc is the shape of the cells whose centre is at most radius from (x, y).
func Disc(x, y, radius float64) *pb.Shape {
	return &pb.Shape{Discs: []*pb.Disc{{Center: &pb.Point{X: x, Y: y}, Radius: radius}}}
}

// PutObstacle is an edit that adds an obstacle, or replaces the one with this id.
func PutObstacle(id string, shape *pb.Shape) *pb.Edit {
	return &pb.Edit{Edit: &pb.Edit_PutObstacle{PutObstacle: &pb.Obstacle{Id: id, Shape: shape}}}
}

// MoveObstacle is an edit that moves an obstacle by so many cells.
func MoveObstacle(id string, dx, dy float64) *pb.Edit {
	return &pb.Edit{Edit: &pb.Edit_MoveObstacle{MoveObstacle: &pb.MoveObstacle{Id: id, Dx: dx, Dy: dy}}}
}

// RemoveObstacle is an edit.
func RemoveObstacle(id string) *pb.Edit {
	return &pb.Edit{Edit: &pb.Edit_RemoveObstacle{RemoveObstacle: id}}
}

// Block is an edit of the layer of obstacles without names.
func Block(shape *pb.Shape) *pb.Edit { return &pb.Edit{Edit: &pb.Edit_Block{Block: shape}} }

// Unblock is the opposite of Block.
func Unblock(shape *pb.Shape) *pb.Edit { return &pb.Edit{Edit: &pb.Edit_Unblock{Unblock: shape}} }

// Move is a move for Map.CheckMoves.
func Move(from, to *pb.Location, elapsed time.Duration) *pb.MoveToCheck {
	return &pb.MoveToCheck{From: from, To: to, Elapsed: durationpb.New(elapsed)}
}

// A Map is a handle of a map, which need not exist. Options of its methods change the request before it is sent.
type Map struct {
	ID     string
	client *Client
}

func (c *Client) Map(id string) *Map { return &Map{ID: id, client: c} }

// Query makes a query for FindPath of a PathStream and for Put of a Follower.
func (m *Map) Query(start, goal *pb.Location, options ...func(*pb.FindPathRequest)) *pb.FindPathRequest {
	return apply(&pb.FindPathRequest{Map: m.ID, Start: start, Goals: []*pb.Location{goal}}, options)
}

// FindPath finds a cheapest path. That there is none is an answer, not an error: see its Outcome.
func (m *Map) FindPath(ctx context.Context, start, goal *pb.Location,
	options ...func(*pb.FindPathRequest)) (*pb.FindPathResponse, error) {
	return m.client.Paths.FindPath(ctx, m.Query(start, goal, options...))
}

// Update applies all of the edits or none. Retries never apply them twice. After DeadlineExceeded or Canceled they may
// or may not be applied.
func (m *Map) Update(ctx context.Context, edits ...*pb.Edit) (*pb.UpdateMapResponse, error) {
	return m.client.Maps.UpdateMap(ctx, &pb.UpdateMapRequest{
		Map: m.ID, Edits: edits, RequestId: rand.Text(), RequestTime: timestamppb.Now()})
}

// CheckMoves judges moves of agents that pay a cost of speed per second.
func (m *Map) CheckMoves(ctx context.Context, speed float64, moves []*pb.MoveToCheck,
	options ...func(*pb.CheckMovesRequest)) (*pb.CheckMovesResponse, error) {
	return m.client.Paths.CheckMoves(ctx, apply(&pb.CheckMovesRequest{Map: m.ID, Speed: speed, Moves: moves}, options))
}

// Watch yields the events of the map: first that the watch has started, after which none is missed. When a server is
// lost the watch goes on at another one, or at the same. An error is the last that is yielded: that of the context, or
// one that another stream would have too, such as MAP_NOT_FOUND.
func (m *Map) Watch(ctx context.Context,
	options ...func(*pb.WatchMapRequest)) iter.Seq2[*pb.WatchMapResponse, error] {
	return func(yield func(*pb.WatchMapResponse, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		request := apply(&pb.WatchMapRequest{Map: m.ID}, options)
		isFirst, goesOn := true, true
		err := takeAll(ctx, m.client, func() (receiver[pb.WatchMapResponse], error) {
			return m.client.Maps.WatchMap(ctx, request)
		}, func(event *pb.WatchMapResponse) bool {
			// The next stream goes on where this one is.
			request.After = cmp.Or(event.GetCommit().GetVersion(), event.GetResynchronize().GetVersion(),
				request.After, event.GetWatching().GetVersion())
			if isFirst || event.GetWatching() == nil {
				goesOn = yield(event, nil)
			}
			isFirst = false
			return goesOn
		})
		if goesOn {
			yield(nil, err)
		}
	}
}

func apply[Request any](request *Request, options []func(*Request)) *Request {
	for _, option := range options {
		option(request)
	}
	return request
}
