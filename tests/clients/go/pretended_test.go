package tests

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	waystar "waystar.dev/client"
	pb "waystar.dev/proto/waystar/v1"
)

type pathStream = grpc.BidiStreamingServer[pb.StreamFindPathRequest, pb.StreamFindPathResponse]

type agentStream = grpc.BidiStreamingServer[pb.FollowAgentsRequest, pb.FollowAgentsResponse]

// A pretended server fails as it is told, and keeps what it is asked.
type pretended struct {
	pb.UnimplementedPathServiceServer
	pb.UnimplementedMapServiceServer
	mutex    sync.Mutex
	failures []error
	updates  []*pb.UpdateMapRequest
	queries  []*pb.FindPathRequest
	streams  chan agentStream
	ends     chan error
	// What the next streams of queries do. Without any they read nothing.
	pathStreams chan func(pathStream) error
}

func startPretended(t *testing.T, failures ...error) (*pretended, *waystar.Client) {
	p := &pretended{failures: failures, ends: make(chan error),
		streams: make(chan agentStream), pathStreams: make(chan func(pathStream) error, 2)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := grpc.NewServer()
	pb.RegisterPathServiceServer(server, p)
	pb.RegisterMapServiceServer(server, p)
	healthpb.RegisterHealthServer(server, healthy())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return p, newClient(t, listener.Addr().String(), waystar.Options{Timeout: patience})
}

func healthy() *health.Server {
	server := health.NewServer()
	server.SetServingStatus(pb.PathService_ServiceDesc.ServiceName, healthpb.HealthCheckResponse_SERVING)
	return server
}

func (p *pretended) fail() error {
	if len(p.failures) == 0 {
		return nil
	}
	err := p.failures[0]
	p.failures = p.failures[1:]
	return err
}

func (p *pretended) FindPath(_ context.Context, query *pb.FindPathRequest) (*pb.FindPathResponse, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.queries = append(p.queries, query)
	return &pb.FindPathResponse{}, p.fail()
}

func (p *pretended) UpdateMap(_ context.Context, request *pb.UpdateMapRequest) (*pb.UpdateMapResponse, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.updates = append(p.updates, request)
	return &pb.UpdateMapResponse{Version: &pb.Version{Epoch: 1, Revision: 2}}, p.fail()
}

func (p *pretended) StreamFindPath(stream pathStream) error {
	select {
	case serve := <-p.pathStreams:
		return serve(stream)
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

func (p *pretended) FollowAgents(stream agentStream) error {
	p.streams <- stream
	return <-p.ends
}

func busy(t *testing.T) error {
	failure, err := status.New(codes.ResourceExhausted, "busy").WithDetails(
		&errdetails.ErrorInfo{Domain: "waystar", Reason: "QUEUE_FULL"},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Millisecond)})
	must(t, err)
	return failure.Err()
}

func TestRetriesQueries(t *testing.T) {
	closed := status.Error(codes.Internal, "stream terminated by RST_STREAM with error code: INTERNAL_ERROR")
	for _, failure := range []error{busy(t), closed, status.Error(codes.Canceled, "closed"),
		status.Error(codes.Unavailable, "gone")} {
		server, client := startPretended(t, failure)
		_, err := client.Map("yard").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(1, 0))
		must(t, err)
		expect(t, "the number of queries", len(server.queries), 2)
	}
	server, client := startPretended(t, busy(t), busy(t), busy(t), busy(t), busy(t))
	_, err := client.Map("yard").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(1, 0))
	expectReason(t, err, "QUEUE_FULL")
	expect(t, "the number of queries", len(server.queries), 4)
	server, client = startPretended(t, status.Error(codes.Internal, "a fault"))
	_, err = client.Map("yard").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(1, 0))
	expect(t, "the code", status.Code(err), codes.Internal)
	expect(t, "the number of queries", len(server.queries), 1)
}

func TestRetriesStopWhileMostCallsFail(t *testing.T) {
	failures := make([]error, 1000)
	for i := range failures {
		failures[i] = busy(t)
	}
	server, client := startPretended(t, failures...)
	for range 100 {
		_, err := client.Map("yard").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(1, 0))
		expectReason(t, err, "QUEUE_FULL")
	}
	// Retries stop with failure 51, the third attempt of call 13.
	expect(t, "the number of queries", len(server.queries), 51+87)
}

func TestRetriesUpdatesByTheirID(t *testing.T) {
	gone := status.Error(codes.Unavailable, "gone")
	server, client := startPretended(t, gone, gone)
	_, err := client.Map("yard").Update(patient(t), waystar.RemoveObstacle("tree"))
	must(t, err)
	expect(t, "the number of updates", len(server.updates), 3)
	for _, update := range server.updates {
		if update.RequestId == "" || update.RequestTime == nil || !proto.Equal(update, server.updates[0]) {
			t.Fatalf("%v differs from %v", update, server.updates[0])
		}
	}
	server, client = startPretended(t, gone)
	_, err = client.Maps.UpdateMap(patient(t), &pb.UpdateMapRequest{Map: "yard"})
	expect(t, "the code", status.Code(err), codes.Unavailable)
	expect(t, "the number of updates", len(server.updates), 1)
}

func TestQueriesSeeOwnChanges(t *testing.T) {
	server, client := startPretended(t)
	yard := client.Map("yard")
	find := func(options ...func(*pb.FindPathRequest)) *pb.View {
		t.Helper()
		query := yard.Query(waystar.Cell(0, 0), waystar.Cell(1, 0), options...)
		before := proto.Clone(query)
		_, err := client.Paths.FindPath(patient(t), query)
		must(t, err)
		expect(t, "that the caller's query is as before", proto.Equal(query, before), true)
		return server.queries[len(server.queries)-1].View
	}
	expect(t, "that there is a view before a change", find() != nil, false)
	_, err := yard.Update(patient(t), waystar.RemoveObstacle("tree"))
	must(t, err)
	expect(t, "the least revision", find().GetLeastVersion().GetRevision(), 2)
	view := find(func(query *pb.FindPathRequest) {
		query.View = &pb.View{Overlay: &pb.Overlay{IgnoredObstacles: []string{"tree"}}}
	})
	expect(t, "the least revision", view.GetLeastVersion().GetRevision(), 2)
	expect(t, "the overlay", view.GetOverlay().GetIgnoredObstacles()[0], "tree")
	view = find(func(query *pb.FindPathRequest) { query.View = &pb.View{LeastVersion: &pb.Version{}} })
	expect(t, "the least revision", view.GetLeastVersion().GetRevision(), 0)
	client.NoteChange("yard", &pb.Version{Epoch: 1, Revision: 5})
	client.NoteChange("yard", &pb.Version{Epoch: 1, Revision: 4})
	expect(t, "the least revision", find().GetLeastVersion().GetRevision(), 5)
	for i := range 2000 {
		client.NoteChange(fmt.Sprint(i), &pb.Version{Epoch: 1, Revision: 1})
	}
	client.NoteChange("yard", &pb.Version{Epoch: 2, Revision: 1})
	expect(t, "the least epoch", find().GetLeastVersion().GetEpoch(), 2)
}

func TestAPathStreamKeepsDeadlines(t *testing.T) {
	_, unread := startPretended(t)
	nobody := newPatientClient(t, "127.0.0.1:1")
	for _, client := range []*waystar.Client{unread, nobody} {
		paths := client.StreamFindPath(patient(t))
		query := client.Map("yard").Query(waystar.Node(strings.Repeat("far", 100_000)), waystar.Node("goal"))
		for range 3 {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			_, err := paths.FindPath(ctx, query)
			cancel()
			expect(t, "the code", status.Code(err), codes.DeadlineExceeded)
		}
	}
}

func TestALostPathStreamLosesNoQuery(t *testing.T) {
	const queries = 200
	server, client := startPretended(t)
	server.pathStreams <- func(stream pathStream) error {
		for range queries {
			if _, err := stream.Recv(); err != nil {
				return err
			}
		}
		return status.Error(codes.Unavailable, "gone")
	}
	server.pathStreams <- func(stream pathStream) error {
		for {
			message, err := stream.Recv()
			if err != nil {
				return err
			}
			answer := &pb.StreamedAnswer{Id: message.Queries[0].Id,
				Result: &pb.StreamedAnswer_Answer{Answer: &pb.FindPathResponse{}}}
			if err := stream.Send(&pb.StreamFindPathResponse{Answers: []*pb.StreamedAnswer{answer}}); err != nil {
				return err
			}
		}
	}
	paths := client.StreamFindPath(patient(t))
	errs := make(chan error)
	for range queries {
		go func() { errs <- streamed(paths, patient(t)) }()
	}
	for range queries {
		must(t, <-errs)
	}
}

func TestThePathsOfAStreamThatWasEndedAreNoFailures(t *testing.T) {
	server, client := startPretended(t)
	ctx, cancel := context.WithCancel(patient(t))
	server.pathStreams <- func(stream pathStream) error {
		for range 1000 {
			if _, err := stream.Recv(); err != nil {
				return err
			}
		}
		cancel()
		return nil
	}
	paths := client.StreamFindPath(ctx)
	errs := make(chan error)
	for range 1000 {
		go func() { errs <- streamed(paths, patient(t)) }()
	}
	for range 1000 {
		expect(t, "the code", status.Code(<-errs), codes.Canceled)
	}
	server.failures = []error{status.Error(codes.Unavailable, "gone")}
	_, err := client.Map("yard").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(1, 0))
	must(t, err)
}

func TestPutsAgentsAgainWithTheirPaths(t *testing.T) {
	server, client := startPretended(t)
	agents := client.FollowAgents(patient(t), &pb.FollowAgentsRequest{AtMostEvery: durationpb.New(time.Second)})
	stream := <-server.streams
	agents.Put(7, client.Map("yard").Query(waystar.Cell(0, 1), waystar.Cell(9, 1)))
	must(t, agents.Flush())
	change := receiveChange(t, stream)
	expect(t, "that it holds a path", change.Held != nil, false)
	path := &pb.Path{Points: []*pb.Cell{{X: 0, Y: 1}, {X: 9, Y: 1}}, Positions: []*pb.Position{{}, {}}}
	must(t, stream.Send(&pb.FollowAgentsResponse{
		States: []*pb.AgentState{{Agent: 7, Number: change.Number, Version: &pb.Version{Epoch: 1, Revision: 1},
			State: &pb.AgentState_Answer{Answer: &pb.FindPathResponse{
				Outcome: pb.Outcome_OUTCOME_FOUND, Cost: 9, Path: path}}}},
		Progress: []*pb.MapProgress{{Map: "yard", Version: &pb.Version{Epoch: 1, Revision: 5}}},
	}))
	expect(t, "the cost", nextState(t, agents).Answer.GetCost(), 9)
	agents.MoveTo(7, waystar.Cell(1, 1))
	server.ends <- status.Error(codes.Unavailable, "gone")

	stream = <-server.streams
	change = receiveChange(t, stream)
	expect(t, "the place", change.GetPut().GetStart().GetCell().GetX(), 1)
	expect(t, "the version", change.Held.GetVersion().GetRevision(), 5)
	expect(t, "the cost", change.Held.GetCost(), 9)
	expect(t, "the number of points", len(change.Held.GetPath().GetPoints()), 2)
	expect(t, "the number of positions", len(change.Held.GetPath().GetPositions()), 0)
	server.ends <- status.Error(codes.FailedPrecondition, "for good")
	for range agents.News() {
	}
	expect(t, "the code", status.Code(agents.Flush()), codes.FailedPrecondition)
}

// Receives a message with one change.
func receiveChange(t *testing.T, stream agentStream) *pb.AgentChange {
	message, err := stream.Recv()
	must(t, err)
	expect(t, "the number of changes", len(message.Changes), 1)
	expect(t, "the setting", message.AtMostEvery.AsDuration(), time.Second)
	return message.Changes[0]
}
