package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "waystar.dev/proto/waystar/v1"
)

// reasonOf returns the reason that a server gives with each refusal.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.Reason
		}
	}
	return ""
}

// A client that rounds of faults use has this number.
const proberNumber = clientCount

func (w *workload) newClient(number int) *client {
	return &client{workload: w, number: number, seen: make(map[string]uint64), random: rand.New(rand.NewPCG(1, uint64(number)))}
}

// A client works with one map after the other, at one server after the other. One goroutine uses it.
type client struct {
	*workload
	number int
	random *rand.Rand
	// The latest revision of each map that this client has seen.
	seen map[string]uint64
}

func (c *client) work(ctx context.Context) {
	for !c.isOver.Load() {
		shared := c.maps[c.random.IntN(len(c.maps))]
		switch dice := c.random.IntN(10); {
		case dice < 5:
			c.update(ctx, shared)
		case dice < 8:
			c.read(ctx, shared)
		default:
			c.glance(ctx, shared)
		}
	}
}

func (c *client) anyServer() int { return c.random.IntN(size) }

// saw takes note of a revision, which must not be before the last one that the client has seen.
func (c *client) saw(shared *sharedMap, version *pb.Version, where string) {
	if version.Epoch != shared.epoch {
		c.report("%s: client %d saw epoch %x of %s instead of %x", where, c.number, version.Epoch, shared.id, shared.epoch)
	}
	if before := c.seen[shared.id]; version.Revision < before {
		c.report("%s: client %d saw revision %d of %s after %d", where, c.number, version.Revision, shared.id, before)
	}
	c.seen[shared.id] = version.Revision
	shared.see(version.Revision)
}

// mayTryAgain says whether an error is one that faults excuse.
func (c *client) mayTryAgain(err error, where string) bool {
	switch code := status.Code(err); code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	case codes.ResourceExhausted:
		return true
	default:
		c.report("%s failed: %v (%s)", where, err, reasonOf(err))
		return false
	}
}

// pause lets a client not try again at once.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// update makes a batch, and sends it to one server after the other until it is known what became of it.
func (c *client) update(ctx context.Context, shared *sharedMap) {
	made, request := c.newBatch(shared)
	// Now and then a client gives up at once, as one that ends does.
	isPatient := c.random.IntN(10) > 0
	// A client that stops finishes its last batch.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), updateTime)
	defer cancel()
	called := c.history.now()
	mayBeApplied := false
	at := c.anyServer()
	for attempt := 0; ctx.Err() == nil; attempt++ {
		attemptCtx, cancelAttempt := context.WithTimeout(ctx, attemptTime)
		err := c.send(attemptCtx, shared, &made, request, at, attempt)
		cancelAttempt()
		if err == nil {
			break
		}
		isFull := reasonOf(err) == "STORAGE_FULL"
		made.isRefused = isFull && !mayBeApplied
		mayBeApplied = mayBeApplied || status.Code(err) != codes.ResourceExhausted
		if isFull || !c.mayTryAgain(err, fmt.Sprintf("batch %d at server %d", made.number, at)) || !isPatient {
			break
		}
		c.again.Add(1)
		at = (at + 1) % size
		pause(ctx)
	}
	c.note(made, called)
	if made.isRefused {
		pause(ctx)
	}
}

// updateAt sends one batch to one server, once, and returns its error.
func (c *client) updateAt(shared *sharedMap, at int, timeout time.Duration) error {
	made, request := c.newBatch(shared)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	called := c.history.now()
	err := c.send(ctx, shared, &made, request, at, 0)
	made.isRefused = reasonOf(err) == "STORAGE_FULL"
	c.note(made, called)
	return err
}

func (c *client) newBatch(shared *sharedMap) (batch, *pb.UpdateMapRequest) {
	// Neither all nor none of the cells are blocked, since a shape has one cell at least.
	made := batch{mapID: shared.id, number: int(c.numbers.Add(1)), cells: uint16(1 + c.random.IntN(1<<cellCount-2))}
	return made, &pb.UpdateMapRequest{
		Map: shared.id, Edits: editsOf(made), RequestId: fmt.Sprintf("batch-%d", made.number), RequestTime: timestamppb.Now(),
	}
}

// send sends a batch to one server, and takes note of the answer, if there is one.
func (c *client) send(
	ctx context.Context, shared *sharedMap, made *batch, request *pb.UpdateMapRequest, at, attempt int,
) error {
	answered, err := c.fleet.servers[at].maps.UpdateMap(ctx, request)
	if err != nil {
		return err
	}
	if answered.AlreadyApplied && attempt == 0 {
		c.report("batch %d was answered as applied before, though it is new", made.number)
	}
	made.revision = answered.Version.Revision
	if answered.AlreadyApplied {
		// The answer is that of the first attempt, after which this client may have seen more.
		shared.see(made.revision)
	} else {
		c.saw(shared, answered.Version, fmt.Sprintf("batch %d at server %d", made.number, at))
	}
	return nil
}

// note writes down what a client knows of its batch.
func (c *client) note(made batch, called int64) {
	asked := question{mapID: made.mapID, isUpdate: true, cells: made.cells, number: made.number}
	if made.isRefused {
		c.refused.Add(1)
	} else {
		c.history.add(c.number, asked, called, answer{revision: made.revision})
		if made.revision == 0 {
			c.unknown.Add(1)
		} else {
			c.acked.Add(1)
		}
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.batches = append(c.batches, made)
}

// read asks for what anybody has seen, so that its answer is one of the only map that clients see.
func (c *client) read(ctx context.Context, shared *sharedMap) {
	called := c.history.now()
	if told, ok := c.ask(ctx, shared, shared.newest.Load(), "read"); ok {
		c.history.add(c.number, question{mapID: shared.id}, called, told)
		c.reads.Add(1)
	}
}

// glance asks for what this client has seen.
func (c *client) glance(ctx context.Context, shared *sharedMap) {
	if told, ok := c.ask(ctx, shared, max(1, c.seen[shared.id]), "glance"); ok {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.glimpses = append(c.glimpses, glimpse{shared.id, told})
	}
}

// ask reads the map at one server after the other, until one answers or all have failed.
func (c *client) ask(ctx context.Context, shared *sharedMap, least uint64, what string) (answer, bool) {
	request := &pb.CheckReachabilityRequest{
		Map: shared.id, Pairs: everyCell, View: &pb.View{LeastVersion: &pb.Version{Epoch: shared.epoch, Revision: least}},
	}
	at := c.anyServer()
	for range size {
		where := fmt.Sprintf("%s at server %d", what, at)
		answered, err := attempted(ctx, func(ctx context.Context) (*pb.CheckReachabilityResponse, error) {
			return c.fleet.servers[at].paths.CheckReachability(ctx, request)
		})
		if err == nil {
			if answered.Info.Version.Revision < least {
				c.report("%s: revision %d of %s though %d was asked for", where, answered.Info.Version.Revision, shared.id, least)
			}
			c.saw(shared, answered.Info.Version, where)
			return answer{answered.Info.Version.Revision, cellsOf(answered.Reachable)}, true
		}
		if !c.mayTryAgain(err, where) {
			break
		}
		at = (at + 1) % size
		pause(ctx)
	}
	c.failures.Add(1)
	return answer{}, false
}

func attempted[Answer any](ctx context.Context, call func(context.Context) (Answer, error)) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	return call(ctx)
}

// From each cell to itself: true unless it is blocked.
var everyCell = func() []*pb.LocationPair {
	pairs := make([]*pb.LocationPair, 0, cellCount)
	for x := range int32(cellCount) {
		here := &pb.Location{Place: &pb.Location_Cell{Cell: &pb.Cell{X: x}}}
		pairs = append(pairs, &pb.LocationPair{Start: here, Goal: here})
	}
	return pairs
}()

func cellsOf(reachable []bool) uint16 {
	var cells uint16
	for x, isOpen := range reachable {
		if !isOpen {
			cells |= 1 << x
		}
	}
	return cells
}
