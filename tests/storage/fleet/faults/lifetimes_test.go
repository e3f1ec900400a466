package faults

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "waystar.dev/proto/waystar/v1"
)

// An owner creates, changes and deletes a map of its own, again and again, at any server. So it knows
// what there must be, unless an outcome is unknown.
type owner struct {
	fleet  *fleet
	id     string
	random *rand.Rand
	// Of all owners: calls that were answered as they should, and those that came too early.
	done, excused *atomic.Int64

	// Of the map that there is; of epoch 0 if there is none.
	version *pb.Version
	number  int
	isWrong bool
}

func (o *owner) report(format string, arguments ...any) {
	o.isWrong = true
	o.fleet.t.Errorf("%s: %s", o.id, fmt.Sprintf(format, arguments...))
}

// Calls one server after the other, until one answers with something but a failure.
func (o *owner) insist(call func(ctx context.Context, s *server) error) (tries int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	at := o.random.IntN(size)
	for ctx.Err() == nil {
		tries++
		_, err = attempted(ctx, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, call(ctx, o.fleet.servers[at])
		})
		code := status.Code(err)
		if code != codes.Unavailable && code != codes.DeadlineExceeded && code != codes.ResourceExhausted {
			o.done.Add(1)
			return tries, err
		}
		at = (at + 1) % size
		pause(ctx)
	}
	return tries, err
}

// excuse has a refusal be one that is tried again, of a server that has not followed the others yet.
func (o *owner) excuse(err error, reasons ...string) error {
	if err == nil || !slices.Contains(reasons, reasonOf(err)) {
		return err
	}
	o.excused.Add(1)
	return status.Error(codes.Unavailable, reasonOf(err))
}

func (o *owner) create() {
	o.number++
	request := &pb.CreateMapRequest{
		Map: o.id, Blank: &pb.BlankGrid{Width: cellCount, Height: 1}, RequestId: fmt.Sprintf("%s-%d", o.id, o.number),
	}
	tries, err := o.insist(func(ctx context.Context, s *server) error {
		answered, err := s.maps.CreateMap(ctx, request)
		if err == nil {
			o.version = answered.Info.Version
		}
		return o.excuse(err, "MAP_EXISTS")
	})
	if err != nil {
		o.report("creation %d failed after %d tries: %v (%s)", o.number, tries, err, reasonOf(err))
	}
}

func (o *owner) change() {
	o.number++
	request := &pb.UpdateMapRequest{
		Map: o.id, Edits: editsOf(batch{number: o.number, cells: uint16(o.number)%1000 + 1}), ExpectedVersion: o.version,
		RequestId: fmt.Sprintf("%s-%d", o.id, o.number), RequestTime: timestamppb.Now(),
	}
	before := o.version
	tries, err := o.insist(func(ctx context.Context, s *server) error {
		answered, err := s.maps.UpdateMap(ctx, request)
		if err == nil {
			o.version = answered.Version
			return nil
		}
		return o.excuse(err, "MAP_NOT_FOUND", "STALE_REVISION", "MAP_REPLACED")
	})
	if err != nil {
		o.report("change %d of %v failed after %d tries: %v (%s)", o.number, before, tries, err, reasonOf(err))
	} else if o.version.Epoch != before.Epoch || o.version.Revision != before.Revision+1 {
		o.report("change %d led from %v to %v", o.number, before, o.version)
	}
}

func (o *owner) remove() {
	before := o.version
	wasLost := false
	tries, err := o.insist(func(ctx context.Context, s *server) error {
		_, err := s.maps.DeleteMap(ctx, &pb.DeleteMapRequest{Map: o.id, ExpectedVersion: &pb.Version{Epoch: before.Epoch}})
		if reasonOf(err) == "MAP_NOT_FOUND" && wasLost {
			return o.expectGone(ctx, s)
		}
		excused := o.excuse(err, "MAP_NOT_FOUND", "MAP_REPLACED")
		wasLost = wasLost || err != nil && excused == err
		return excused
	})
	if err != nil {
		o.report("deletion of %v failed after %d tries: %v (%s)", before, tries, err, reasonOf(err))
		return
	}
	o.version = &pb.Version{}
}

// expectGone finds out whether the fleet has no such map: a server may not know of its creation yet.
func (o *owner) expectGone(ctx context.Context, s *server) error {
	_, err := s.maps.GetMap(ctx, &pb.GetMapRequest{Map: o.id, LatestOfCluster: true})
	switch {
	case err == nil:
		return status.Error(codes.Unavailable, "the map is still there")
	case reasonOf(err) == "MAP_NOT_FOUND":
		return nil
	default:
		return err
	}
}

func (o *owner) work(isOver *atomic.Bool) {
	for !isOver.Load() && !o.isWrong {
		switch {
		case o.version.Epoch == 0:
			o.create()
		case o.random.IntN(6) == 0:
			o.remove()
		default:
			o.change()
		}
	}
}

func TestMapsThatComeAndGo(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	f := startFleet(t)
	var done, excused atomic.Int64
	var isOver atomic.Bool
	var working sync.WaitGroup
	owners := make([]*owner, 2*mapCount)
	for i := range owners {
		owners[i] = &owner{
			fleet: f, id: fmt.Sprintf("own%d", i), random: rand.New(rand.NewPCG(3, uint64(i))), done: &done, excused: &excused,
			version: &pb.Version{},
		}
		working.Go(func() { owners[i].work(&isOver) })
	}
	end := sync.OnceFunc(func() { isOver.Store(true); working.Wait() })
	defer end()
	awaitSome := func() {
		goal := done.Load() + someUpdates
		f.await("creations, changes and deletions", func() bool { return done.Load() >= goal || t.Failed() })
	}
	for number := 0; number < rounds && !t.Failed(); number++ {
		random := rand.New(rand.NewPCG(4, uint64(number)))
		victim := random.IntN(size)
		switch number % 3 {
		case 0:
			f.members[f.leader()].kill()
		case 1:
			f.servers[victim].kill()
		case 2:
			forgetMaps(f, victim, awaitSome)
		}
		awaitSome()
		f.heal()
		awaitSome()
	}
	end()
	for i := range f.servers {
		expectMaps(f, i, owners)
	}
	t.Logf("%d creations, changes and deletions; %d were refused by servers that were behind", done.Load(), excused.Load())
	for _, wrong := range f.complaints() {
		t.Error(wrong)
	}
}

// forgetMaps cuts a server off while maps come and go, and has etcd forget how.
func forgetMaps(f *fleet, victim int, awaitSome func()) {
	f.servers[victim].eachLink((*proxy).cut)
	awaitSome()
	awaitSome()
	f.compact()
}

// expectMaps waits until a server has the owners' maps with their versions, and judges the digests.
func expectMaps(f *fleet, at int, owners []*owner) {
	f.t.Helper()
	want := make(map[string]string)
	for _, o := range owners {
		if o.version.Epoch != 0 {
			want[o.id] = fmt.Sprintf("%x@%d", o.version.Epoch, o.version.Revision)
		}
	}
	var found map[string]string
	deadline := time.Now().Add(patience / 3)
	f.await(fmt.Sprintf("the maps of server %d", at), func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), attemptTime)
		defer cancel()
		listed, err := f.servers[at].maps.ListMaps(ctx, &pb.ListMapsRequest{PageSize: 200})
		found = make(map[string]string)
		for _, info := range listed.GetMaps() {
			found[info.Map] = fmt.Sprintf("%x@%d", info.Version.Epoch, info.Version.Revision)
		}
		return err == nil && maps.Equal(found, want) || time.Now().After(deadline)
	})
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if found[id] != want[id] {
			f.t.Errorf("server %d has %s as %q instead of %q", at, id, found[id], want[id])
		}
	}
	for id := range found {
		if want[id] == "" {
			f.t.Errorf("server %d has %s, which was deleted", at, id)
		}
	}
}
