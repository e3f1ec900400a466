package faults

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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
