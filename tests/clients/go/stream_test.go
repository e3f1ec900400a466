package tests

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	waystar "waystar.dev/client"
	pb "waystar.dev/proto/waystar/v1"
)

func streamed(paths *waystar.PathStream, ctx context.Context) error {
	_, err := paths.FindPath(ctx, &pb.FindPathRequest{
		Map: "ten-by-ten", Start: waystar.Cell(0, 0), Goals: []*pb.Location{waystar.Cell(7, 7)}})
	return err
}

func TestOneStreamAnswersManyQueries(t *testing.T) {
	server := startSamples(t)
	client := newPatientClient(t, server.address)
	arena := client.Map("ten-by-ten")
	paths := client.StreamFindPath(patient(t))
	var group sync.WaitGroup
	for i := range 1000 {
		group.Add(1)
		go func() {
			defer group.Done()
			y := int32(i % 8)
			answer, err := paths.FindPath(patient(t), arena.Query(waystar.Cell(0, 0), waystar.Cell(0, y)))
			if err != nil {
				t.Error(err)
			} else if end := answer.Path.End.GetCell().Y; end != y {
				t.Errorf("The path to %d ends at %d", y, end)
			}
		}()
	}
	group.Wait()
	_, err := paths.FindPath(patient(t), arena.Query(waystar.Cell(0, 0), waystar.Cell(70, 0)))
	expectReason(t, err, "OFF_MAP")

	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		server.stop(signal)
		server.start()
		must(t, streamed(paths, patient(t)))
	}
}

func TestAPathStreamEndsWithItsContext(t *testing.T) {
	client := newPatientClient(t, startSamples(t).address)
	ctx, cancel := context.WithCancel(patient(t))
	paths := client.StreamFindPath(ctx)
	must(t, streamed(paths, patient(t)))
	cancel()
	expect(t, "the code", status.Code(streamed(paths, patient(t))), codes.Canceled)
}

// Waits for an event at that revision. The one before may not be told after a restart.
func awaitRevision(t *testing.T, events func() (*pb.WatchMapResponse, error, bool), revision uint64) {
	t.Helper()
	for {
		event, err, _ := events()
		must(t, err)
		version := cmp.Or(event.GetCommit().GetVersion(), event.GetResynchronize().GetVersion())
		if version.GetRevision() >= revision {
			expect(t, "the revision", version.GetRevision(), revision)
			return
		}
	}
}

func TestAWatchGoesOnAfterARestart(t *testing.T) {
	server := startServer(t, "--data_dir="+t.TempDir())
	client := newPatientClient(t, server.address)
	yard := createYard(t, client)
	events, stop := iter.Pull2(yard.Watch(patient(t)))
	defer stop()
	event, err, _ := events()
	must(t, err)
	expect(t, "the first revision", event.GetWatching().GetVersion().GetRevision(), 1)
	revision := uint64(1)
	change := func() {
		updated, err := yard.Update(patient(t), waystar.Block(waystar.Rect(int32(revision), 0, 1, 1)))
		must(t, err)
		revision++
		expect(t, "the revision of the update", updated.Version.Revision, revision)
	}
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		change()
		awaitRevision(t, events, revision)
		server.stop(signal)
		server.start()
		change()
		awaitRevision(t, events, revision)
	}
}

func TestAWatchTellsOfAnotherMap(t *testing.T) {
	client := newClient(t, startServer(t).address, waystar.Options{Timeout: patience})
	yard := createYard(t, client)
	events, stop := iter.Pull2(yard.Watch(patient(t)))
	defer stop()
	_, err, _ := events()
	must(t, err)
	replaceYard(t, client)
	event, err, _ := events()
	must(t, err)
	expect(t, "the revision", event.GetResynchronize().GetVersion().GetRevision(), 1)

	_, err = client.Maps.DeleteMap(patient(t), &pb.DeleteMapRequest{Map: "yard"})
	must(t, err)
	_, err, _ = events()
	expectReason(t, err, "MAP_NOT_FOUND")
	_, _, goesOn := events()
	expect(t, "that it goes on", goesOn, false)
}

func TestAWatchGoesOnOnAMapOfAnotherEpoch(t *testing.T) {
	// Without --data_dir, maps are others after a restart.
	server := startSamples(t)
	client := newPatientClient(t, server.address)
	events, stop := iter.Pull2(client.Map("ten-by-ten").Watch(patient(t)))
	defer stop()
	first, err, _ := events()
	must(t, err)
	server.kill()
	server.start()
	event, err, _ := events()
	must(t, err)
	version := event.GetResynchronize().GetVersion()
	expect(t, "the revision", version.GetRevision(), 1)
	expect(t, "that the map is the same", version.Epoch == first.GetWatching().GetVersion().GetEpoch(), false)
}

func TestAWatchEndsWithItsContextAndItsClient(t *testing.T) {
	client := newClient(t, startServer(t).address, waystar.Options{Timeout: patience})
	yard := createYard(t, client)
	ctx, cancel := context.WithCancel(patient(t))
	defer cancel()
	var last error
	for _, last = range yard.Watch(ctx) {
		cancel()
	}
	expect(t, "the code", status.Code(last), codes.Canceled)
	ctx, cancel = context.WithTimeout(patient(t), 50*time.Millisecond)
	defer cancel()
	for _, last = range newClient(t, "127.0.0.1:1", waystar.Options{}).Map("yard").Watch(ctx) {
	}
	expect(t, "the code", status.Code(last), codes.DeadlineExceeded)
	agents := follow(t, client)
	for _, last = range yard.Watch(patient(t)) {
		client.Close()
	}
	expect(t, "the code", status.Code(last), codes.Canceled)
	for range agents.News() {
	}
	expect(t, "the code", status.Code(agents.Flush()), codes.Canceled)
}

func replaceYard(t *testing.T, client *waystar.Client) {
	t.Helper()
	file := "..........\n..........\n..........\n..........\n"
	size := int64(len(file))
	stream, err := client.Maps.ImportMap(patient(t))
	must(t, err)
	must(t, stream.Send(&pb.ImportMapRequest{Part: &pb.ImportMapRequest_Header{
		Header: &pb.ImportMapHeader{Map: "yard", Size: &size, Replace: true}}}))
	must(t, stream.Send(&pb.ImportMapRequest{Part: &pb.ImportMapRequest_Chunk{Chunk: []byte(file)}}))
	_, err = stream.CloseAndRecv()
	must(t, err)
}

// Waits for news about agent 7, which is the only one.
func nextState(t *testing.T, agents *waystar.Follower) waystar.AgentPath {
	t.Helper()
	must(t, agents.Flush())
	if _, ok := <-agents.News(); !ok {
		t.Fatal(agents.Flush())
	}
	state, ok := agents.TakeNews()[7]
	expect(t, "that the news is about agent 7", ok, true)
	return state
}

func follow(t *testing.T, client *waystar.Client) *waystar.Follower {
	return client.FollowAgents(patient(t), &pb.FollowAgentsRequest{AtMostEvery: durationpb.New(time.Millisecond)})
}

func TestFollowsAgents(t *testing.T) {
	client := newClient(t, startServer(t).address, waystar.Options{Timeout: patience})
	yard := createYard(t, client)
	agents := follow(t, client)
	agents.Put(7, yard.Query(waystar.Cell(0, 1), waystar.Cell(9, 1)))
	expect(t, "the first cost", nextState(t, agents).Answer.GetCost(), 9)

	// A state of the place that the agent has left would cost more.
	agents.MoveTo(7, waystar.Cell(1, 1))
	must(t, agents.Flush())
	_, err := yard.Update(patient(t), waystar.Block(waystar.Rect(5, 0, 1, 4)))
	must(t, err)
	state := nextState(t, agents)
	expect(t, "the outcome", state.Answer.GetOutcome(), pb.Outcome_OUTCOME_UNREACHABLE)
	agents.SendTo(7, waystar.Cell(4, 1))
	expect(t, "the cost to the other goal", nextState(t, agents).Answer.GetCost(), 3)
	_, err = yard.Update(patient(t), waystar.Block(waystar.Rect(4, 1, 1, 1)))
	must(t, err)
	state = nextState(t, agents)
	expectReason(t, state.Problem, "GOAL_BLOCKED")
	expect(t, "that it has ended", state.HasEnded, false)

	agents.Remove(7)
	must(t, agents.Flush())
	_, isFollowed := agents.Find(7)
	expect(t, "that it is followed", isFollowed, false)
	agents.Put(7, client.Map("nowhere").Query(waystar.Cell(0, 1), waystar.Cell(9, 1)))
	state = nextState(t, agents)
	expectReason(t, state.Problem, "MAP_NOT_FOUND")
	expect(t, "that it has ended", state.HasEnded, true)
}

func TestAgentsComeToOtherMaps(t *testing.T) {
	client := newClient(t, startServer(t).address, waystar.Options{Timeout: patience})
	yard := createYard(t, client)
	_, err := client.Maps.CreateMap(patient(t), &pb.CreateMapRequest{Map: "cellar", Rows: []string{"....."}})
	must(t, err)
	_, err = yard.Update(patient(t), &pb.Edit{Edit: &pb.Edit_PutPortal{PutPortal: &pb.Portal{
		Id: "stairs", From: &pb.Cell{X: 4}, ToMap: "cellar", To: &pb.Cell{X: 4}}}})
	must(t, err)
	agents := follow(t, client)
	agents.Put(7, yard.Query(waystar.Cell(1, 0), waystar.Cell(0, 0), func(query *pb.FindPathRequest) {
		query.GoalMap = "cellar"
	}))
	state := nextState(t, agents)
	expect(t, "the cost down", state.Answer.GetCost(), 7)
	expect(t, "the map of the stairs", state.Answer.Path.Crossings[0].Map, "cellar")
	agents.MoveToMap(7, "cellar", waystar.Cell(4, 0))
	state, _ = agents.Find(7)
	expect(t, "that the path is that before", state.Answer != nil, false)
	expect(t, "the cost of the rest", nextState(t, agents).Answer.GetCost(), 4)
	agents.MoveToMap(7, "cellar", waystar.Cell(3, 0))
	must(t, agents.Flush())
	_, err = client.Map("cellar").Update(patient(t), waystar.Block(waystar.Rect(2, 0, 1, 1)))
	must(t, err)
	expect(t, "the outcome", nextState(t, agents).Answer.GetOutcome(), pb.Outcome_OUTCOME_UNREACHABLE)
}

func TestFollowsAgentsAfterARestart(t *testing.T) {
	server := startServer(t, "--data_dir="+t.TempDir())
	client := newPatientClient(t, server.address)
	yard := createYard(t, client)
	agents := follow(t, client)
	agents.Put(7, yard.Query(waystar.Cell(0, 1), waystar.Cell(9, 1)))
	expect(t, "the first cost", nextState(t, agents).Answer.GetCost(), 9)
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		state, _ := agents.Find(7)
		points := state.Answer.Path.Points
		server.stop(signal)
		agents.MoveTo(7, waystar.Cell(points[1].X, points[1].Y))
		must(t, agents.Flush())
		server.start()
		// The path in hand is still right, so that the next news is of this change.
		updated, err := yard.Update(patient(t), waystar.Block(waystar.Rect(points[5].X, points[5].Y, 1, 1)))
		must(t, err)
		expect(t, "the revision", nextState(t, agents).Version.GetRevision(), updated.Version.Revision)
	}
}

func TestFollowsAgentsOnAReplacedMap(t *testing.T) {
	// Without --data_dir, maps are others after a restart.
	server := startSamples(t)
	client := newPatientClient(t, server.address)
	agents := follow(t, client)
	agents.Put(7, client.Map("ten-by-ten").Query(waystar.Cell(0, 9), waystar.Cell(9, 9)))
	first := nextState(t, agents)
	expect(t, "the cost", first.Answer.GetCost(), 9)
	server.kill()
	server.start()
	state := nextState(t, agents)
	if state.Problem != nil {
		expectReason(t, state.Problem, "MAP_REPLACED")
		state = nextState(t, agents)
	}
	expect(t, "the cost on the new map", state.Answer.GetCost(), 9)
	expect(t, "that the map is the same", first.Version.Epoch == state.Version.Epoch, false)
}

func TestAgentsEndWithTheirMap(t *testing.T) {
	client := newClient(t, startServer(t).address, waystar.Options{Timeout: patience})
	query := createYard(t, client).Query(waystar.Cell(0, 1), waystar.Cell(9, 1))
	agents := follow(t, client)
	agents.Put(7, query)
	epoch := nextState(t, agents).Version.GetEpoch()
	_, err := client.Maps.DeleteMap(patient(t), &pb.DeleteMapRequest{Map: "yard"})
	must(t, err)
	state := nextState(t, agents)
	expectReason(t, state.Problem, "MAP_NOT_FOUND")
	expect(t, "that it has ended", state.HasEnded, true)
	expect(t, "the number of cells ahead", len(state.Ahead(waystar.Cell(0, 1))), 0)
	createYard(t, client)
	agents.Put(7, query)
	state = nextState(t, agents)
	expect(t, "the number of cells ahead", len(state.Ahead(waystar.Cell(0, 1))), 9)
	expect(t, "the number of cells beside the path", len(state.Ahead(waystar.Cell(0, 3))), 0)
	expect(t, "that the map is the same", state.Version.GetEpoch() == epoch, false)
}

func TestAPositionIsNoCellOfAPath(t *testing.T) {
	path := waystar.AgentPath{Answer: &pb.FindPathResponse{Path: &pb.Path{Points: []*pb.Cell{{}, {X: 1}}}}}
	expect(t, "the number of cells ahead", len(path.Ahead(waystar.Cell(0, 0))), 1)
	expect(t, "the number of cells ahead", len(path.Ahead(waystar.Position(0.5, 0.5, 0))), 0)
}

func TestPutsAgentsAgainForWhichThereWasNoRoom(t *testing.T) {
	client := newClient(t, startServer(t, "--max_agents=1").address, waystar.Options{Timeout: patience})
	yard := createYard(t, client)
	agents := follow(t, client)
	query := yard.Query(waystar.Cell(0, 1), waystar.Cell(9, 1))
	agents.Put(6, query)
	must(t, agents.Flush())
	<-agents.News()
	agents.TakeNews()
	agents.Put(7, query)
	state := nextState(t, agents)
	expectReason(t, state.Problem, "TOO_MANY_AGENTS")
	expect(t, "that it has ended", state.HasEnded, true)
	agents.Remove(6)
	agents.MoveTo(7, waystar.Cell(1, 1))
	for state.Answer == nil {
		must(t, agents.Flush())
		select {
		case <-agents.News():
			state, _ = agents.Find(7)
		case <-time.After(10 * time.Millisecond):
			// This is the next tick.
		}
	}
	expect(t, "the cost", state.Answer.Cost, 8)
}
