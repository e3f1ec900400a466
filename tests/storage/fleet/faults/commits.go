package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "waystar.dev/proto/waystar/v1"
)

const (
	markID = "mark"
	// Marks lie off the map, so that they change nothing else.
	markBegin = 1000
)

func editsOf(made batch) []*pb.Edit {
	blocked, open := &pb.Shape{}, &pb.Shape{}
	for x := range int32(cellCount) {
		shape := open
		if made.cells&(1<<x) != 0 {
			shape = blocked
		}
		shape.Cells = append(shape.Cells, &pb.Cell{X: x})
	}
	mark := &pb.Obstacle{Id: markID, Shape: &pb.Shape{Cells: []*pb.Cell{{X: markBegin + int32(made.number)}}}}
	return []*pb.Edit{
		{Edit: &pb.Edit_Block{Block: blocked}},
		{Edit: &pb.Edit_Unblock{Unblock: open}},
		{Edit: &pb.Edit_PutObstacle{PutObstacle: mark}},
	}
}

// A commit is a revision as a watch tells of it.
type commit struct {
	revision, digest uint64
	number           int
	cells            uint16
}

func commitOf(told *pb.MapRevision) (commit, error) {
	made := commit{revision: told.Version.Revision, digest: told.Digest}
	if len(told.Edits) != 3 {
		return made, fmt.Errorf("revision %d has %d edits", made.revision, len(told.Edits))
	}
	for _, cell := range told.Edits[0].GetBlock().GetCells() {
		made.cells |= 1 << cell.X
	}
	mark := told.Edits[2].GetPutObstacle().GetShape().GetCells()
	if len(mark) != 1 {
		return made, fmt.Errorf("revision %d has no mark", made.revision)
	}
	made.number = int(mark[0].X) - markBegin
	return made, nil
}

var errResynchronize = errors.New("the server does not remember all revisions")

// watch hears of every revision of a map once, from whichever server there is.
func (w *workload) watch(ctx context.Context, shared *sharedMap, at int) {
	last := uint64(1)
	for ctx.Err() == nil {
		at = (at + 1) % size
		err := follow(ctx, w.fleet.servers[at], shared, last, func(told commit) bool {
			if told.revision != last+1 {
				w.report("a watch of %s at server %d told of revision %d after %d", shared.id, at, told.revision, last)
			}
			last = told.revision
			return true
		})
		// A server that is behind does not know that revision yet.
		expected := []codes.Code{codes.Unavailable, codes.Canceled, codes.OutOfRange, codes.DeadlineExceeded}
		if errors.Is(err, errResynchronize) {
			last = shared.newest.Load()
		} else if !slices.Contains(expected, status.Code(err)) {
			w.report("a watch of %s at server %d ended: %v", shared.id, at, err)
		}
		pause(ctx)
	}
}

// follow tells of each revision after the last, until `take` returns false or the watch ends.
func follow(ctx context.Context, s *server, shared *sharedMap, last uint64, take func(commit) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := s.maps.WatchMap(ctx, &pb.WatchMapRequest{
		Map: shared.id, After: &pb.Version{Epoch: shared.epoch, Revision: last}, WithEdits: true,
	})
	for err == nil {
		var event *pb.WatchMapResponse
		if event, err = watch.Recv(); err != nil {
			break
		}
		if event.GetResynchronize() != nil {
			return errResynchronize
		}
		told := event.GetCommit()
		if told == nil {
			continue
		}
		made, wrong := commitOf(told)
		if wrong != nil {
			return wrong
		}
		if !take(made) {
			return nil
		}
	}
	return err
}
