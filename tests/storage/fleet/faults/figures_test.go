package faults

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/status"

	pb "waystar.dev/proto/waystar/v1"
)

var figures = flag.Int("figures", 0, "how often to kill the leader of etcd and a server, to print how long that is felt")

func startForFigures(t *testing.T) (*fleet, *sharedMap) {
	if *figures == 0 {
		t.Skip("-figures is not set")
	}
	f := startFleet(t)
	return f, (&workload{fleet: f}).createMap(context.Background(), "arena")
}

// TestHowLongADeadLeaderIsFelt prints how long after the death of etcd's leader a change is made, with
// the timeouts that etcd has by itself.
func TestHowLongADeadLeaderIsFelt(t *testing.T) {
	f, shared := startForFigures(t)
	var untouched []*sharedMap
	for i := range 100 {
		untouched = append(untouched, (&workload{fleet: f}).createMap(context.Background(), fmt.Sprintf("untouched%d", i)))
	}
	var first, last, later []time.Duration
	for range *figures {
		leader := f.leader()
		began := time.Now()
		f.members[leader].kill()
		var times [size]time.Duration
		var changes sync.WaitGroup
		for i := range f.servers {
			changes.Go(func() {
				changeUntilMade(f, shared, i)
				times[i] = time.Since(began)
			})
		}
		later = append(later, firstOfLater(f, untouched, began))
		changes.Wait()
		first = append(first, slices.Min(times[:]))
		last = append(last, slices.Max(times[:]))
		f.restartMember(leader)
		f.heal()
	}
	t.Logf("from the death of etcd's leader to the first change: %s", summary(first))
	t.Logf("to the first change that began later, of a map that nobody had changed meanwhile: %s", summary(later))
	t.Logf("until each server has made a change: %s", summary(last))
}

// firstOfLater begins a change of another map each 50 ms, and returns how long it took until one was made.
func firstOfLater(f *fleet, maps []*sharedMap, began time.Time) time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	made := make(chan time.Duration, len(maps))
	var changes sync.WaitGroup
	defer changes.Wait()
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for i, shared := range maps {
		changes.Go(func() {
			request := &pb.UpdateMapRequest{Map: shared.id, Edits: editsOf(batch{cells: 1})}
			if _, err := f.servers[i%size].maps.UpdateMap(ctx, request); err == nil {
				made <- time.Since(began)
			}
		})
		select {
		case first := <-made:
			return first
		case <-tick.C:
		}
	}
	return <-made
}

func changeUntilMade(f *fleet, shared *sharedMap, at int) {
	request := &pb.UpdateMapRequest{Map: shared.id, Edits: editsOf(batch{cells: 1}), RequestId: fmt.Sprint(at, time.Now())}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		_, err := f.servers[at].maps.UpdateMap(ctx, request)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			f.t.Errorf("server %d made no change: %v", at, err)
			return
		}
		pause(ctx)
	}
}

func summary(durations []time.Duration) string {
	slices.Sort(durations)
	return fmt.Sprintf("median %v, maximum %v of %d",
		durations[len(durations)/2].Round(time.Millisecond), durations[len(durations)-1].Round(time.Millisecond), len(durations))
}

// TestHowLongADeadServerIsFelt prints for how long after the death of a server calls by way of HAProxy
// fail, with the configuration of docker/haproxy-cluster.cfg.
func TestHowLongADeadServerIsFelt(t *testing.T) {
	f, shared := startForFigures(t)
	haproxy := "/usr/sbin/haproxy"
	if _, err := os.Stat(haproxy); err != nil {
		if haproxy, err = exec.LookPath("haproxy"); err != nil {
			t.Skip("there is no haproxy: apt-get install haproxy")
		}
	}
	addresses, err := freeAddresses(1)
	f.must(err)
	proxy := newProcess(f.folder, "haproxy", haproxy, "-db", "-f", "../../../../docker/haproxy-cluster.cfg")
	proxy.environment = []string{"WAYSTAR_FLEET_LISTEN=" + addresses[0]}
	for i, s := range f.servers {
		proxy.environment = append(proxy.environment, fmt.Sprintf("WAYSTAR_FLEET_%d=%s", i+1, s.address))
	}
	f.must(proxy.start())
	t.Cleanup(proxy.kill)

	changes, queries := &callLog{last: time.Now()}, &callLog{last: time.Now()}
	ctx, cancel := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	defer callers.Wait()
	defer cancel()
	for i := range 6 {
		connection := dial(t, addresses[0])
		t.Cleanup(func() { connection.Close() })
		maps, paths := pb.NewMapServiceClient(connection), pb.NewPathServiceClient(connection)
		callers.Go(func() {
			query := &pb.CheckReachabilityRequest{Map: shared.id, Pairs: everyCell}
			queries.keepCalling(ctx, func(ctx context.Context) error { _, err := paths.CheckReachability(ctx, query); return err })
		})
		callers.Go(func() {
			change := &pb.UpdateMapRequest{Map: shared.id, Edits: editsOf(batch{cells: 1, number: i})}
			changes.keepCalling(ctx, func(ctx context.Context) error { _, err := maps.UpdateMap(ctx, change); return err })
		})
	}
	var ofChanges, ofQueries []time.Duration
	awaitCalm := func(after time.Time) {
		f.await("calls that do not fail", func() bool { return time.Since(after) > calm && queries.isCalm() && changes.isCalm() })
	}
	awaitCalm(time.Time{})
	queries.forget()
	changes.forget()
	for number := range *figures {
		victim := number % size
		began := time.Now()
		f.servers[victim].kill()
		awaitCalm(began)
		ofChanges = append(ofChanges, changes.lastFailureAfter(began))
		ofQueries = append(ofQueries, queries.lastFailureAfter(began))
		f.restartServer(victim)
		// HAProxy takes it in again meanwhile, which is not to be felt.
		awaitCalm(time.Now())
	}
	// A call that the proxy could not pass on is sent again by gRPC itself, and does not fail.
	t.Logf("from the death of a server to the last query that failed: %s; %v", summary(ofQueries), queries)
	t.Logf("from the death of a server to the last change that failed: %s; %v", summary(ofChanges), changes)
}

// How long no call fails before the next event. HAProxy knows within 2 s what became of a server.
const calm = 5 * time.Second

// A callLog tells when calls have failed. Any goroutine may use it.
type callLog struct {
	mutex        sync.Mutex
	made, failed int
	longest      time.Duration
	last         time.Time
	found        map[string]int
}

func (l *callLog) keepCalling(ctx context.Context, call func(context.Context) error) {
	for ctx.Err() == nil {
		began := time.Now()
		_, err := attempted(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
		if ctx.Err() != nil {
			return
		}
		l.note(err, time.Since(began))
		if err != nil {
			pause(ctx)
		}
	}
}

func (l *callLog) note(err error, took time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.made++
	l.longest = max(l.longest, took)
	if err == nil {
		return
	}
	l.failed++
	l.last = time.Now()
	if l.found == nil {
		l.found = make(map[string]int)
	}
	l.found[fmt.Sprint(status.Code(err), " ", reasonOf(err))]++
}

func (l *callLog) forget() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.made, l.failed, l.longest = 0, 0, 0
	clear(l.found)
}

func (l *callLog) isCalm() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return time.Since(l.last) > calm
}

func (l *callLog) lastFailureAfter(began time.Time) time.Duration {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return max(0, l.last.Sub(began))
}

func (l *callLog) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return fmt.Sprintf("%d of %d failed, with %v; the longest took %v",
		l.failed, l.made, l.found, l.longest.Round(time.Millisecond))
}
