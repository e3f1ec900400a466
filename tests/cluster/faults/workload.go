package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "waystar.dev/proto/waystar/v1"
)

const (
	cellCount = 16
	// How many clients and maps a workload has.
	clientCount = 24
	mapCount    = 8
	// How long an attempt may take, and a client tries before it gives up.
	attemptTime = time.Second
	updateTime  = 8 * time.Second
)

// A sharedMap is a map that all clients change.
type sharedMap struct {
	id    string
	epoch uint64
	// The latest revision that any client has seen.
	newest atomic.Uint64
}

func (m *sharedMap) see(revision uint64) {
	for {
		newest := m.newest.Load()
		if revision <= newest || m.newest.CompareAndSwap(newest, revision) {
			return
		}
	}
}

// A batch is one update that a client has made.
type batch struct {
	mapID string
	// Marks the batch on the map, so that the map's own history tells which it was.
	number int
	cells  uint16
	// What became of it: a revision, or 0 if that is unknown or if it was refused.
	revision  uint64
	isRefused bool
}

// A glimpse is what a read saw that need not be of the latest revision.
type glimpse struct {
	mapID string
	state
}

// A workload is clients that change and read maps through all servers of a fleet.
type workload struct {
	fleet *fleet
	maps  []*sharedMap
	// A map that clients leave alone.
	quiet   *sharedMap
	history *history

	numbers  atomic.Int64
	acked    atomic.Int64
	unknown  atomic.Int64
	refused  atomic.Int64
	again    atomic.Int64
	reads    atomic.Int64
	failures atomic.Int64
	prober   *client
	stop     context.CancelFunc
	isOver   atomic.Bool
	clients  sync.WaitGroup

	mutex    sync.Mutex
	batches  []batch
	glimpses []glimpse
	wrongs   []string
}

// startWorkload makes the maps, and begins.
func startWorkload(f *fleet) *workload {
	f.t.Helper()
	w := &workload{fleet: f, history: newHistory()}
	w.prober = w.newClient(proberNumber)
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	for i := range mapCount {
		w.maps = append(w.maps, w.createMap(ctx, fmt.Sprintf("map%d", i)))
	}
	w.quiet = w.createMap(ctx, "quiet")
	for i := range clientCount {
		c := w.newClient(i)
		w.clients.Go(func() { c.work(ctx) })
	}
	for i, shared := range w.maps {
		w.clients.Go(func() { w.watch(ctx, shared, i) })
	}
	return w
}

func (w *workload) createMap(ctx context.Context, id string) *sharedMap {
	f := w.fleet
	f.t.Helper()
	created, err := f.servers[0].maps.CreateMap(ctx, &pb.CreateMapRequest{Map: id, Blank: &pb.BlankGrid{Width: cellCount, Height: 1}})
	f.must(err)
	for _, s := range f.servers {
		f.await("the map "+id, func() bool {
			_, err := s.maps.GetMap(ctx, &pb.GetMapRequest{Map: id})
			return err == nil
		})
	}
	shared := &sharedMap{id: id, epoch: created.Info.Version.Epoch}
	shared.newest.Store(created.Info.Version.Revision)
	return shared
}

// end has the clients finish what they are at, and waits for them.
func (w *workload) end() {
	w.isOver.Store(true)
	// Watches have no end of their own.
	defer w.clients.Wait()
	w.stop()
}

// awaitProgress waits until so many more updates were acknowledged.
func (w *workload) awaitProgress(updates int64) {
	w.fleet.t.Helper()
	goal := w.acked.Load() + updates
	w.fleet.await("acknowledged updates", func() bool { return w.acked.Load() >= goal })
}

func (w *workload) report(format string, arguments ...any) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.wrongs = append(w.wrongs, fmt.Sprintf(format, arguments...))
}

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

func (c *client) newBatch(shared *sharedMap) (batch, *pb.UpdateObstaclesRequest) {
	// Neither all nor none of the cells are blocked, since a shape has one cell at least.
	made := batch{mapID: shared.id, number: int(c.numbers.Add(1)), cells: uint16(1 + c.random.IntN(1<<cellCount-2))}
	return made, &pb.UpdateObstaclesRequest{
		Map: shared.id, Edits: editsOf(made), RequestId: fmt.Sprintf("batch-%d", made.number), RequestTime: timestamppb.Now(),
	}
}

// send sends a batch to one server, and takes note of the answer, if there is one.
func (c *client) send(
	ctx context.Context, shared *sharedMap, made *batch, request *pb.UpdateObstaclesRequest, at, attempt int,
) error {
	answered, err := c.fleet.servers[at].maps.UpdateObstacles(ctx, request)
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
			if answered.Version.Revision < least {
				c.report("%s: revision %d of %s though %d was asked for", where, answered.Version.Revision, shared.id, least)
			}
			c.saw(shared, answered.Version, where)
			return answer{answered.Version.Revision, cellsOf(answered.Reachable)}, true
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
		{Edit: &pb.Edit_PutObstacle{PutObstacle: &pb.PutObstacle{Obstacle: mark, Replace: true}}},
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
	mark := told.Edits[2].GetPutObstacle().GetObstacle().GetShape().GetCells()
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
