package faults

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "waystar.dev/proto/waystar/v1"
)

// A fault is what happens to a fleet while clients work, once a round. What lasts at the end of a
// round is healed after it.
type fault struct {
	name string
	// For each member of etcd.
	flags []string
	round func(f *fleet, w *workload, number int)
}

// How many updates are acknowledged between the events of a round.
const someUpdates = 50

var faults = []fault{
	{"the leader of etcd is killed", nil, func(f *fleet, w *workload, _ int) {
		f.members[f.leader()].kill()
		w.awaitProgress(someUpdates)
	}},
	{"a member of etcd is killed", nil, func(f *fleet, w *workload, number int) {
		f.members[(f.leader()+1+number%2)%size].kill()
		w.awaitProgress(someUpdates)
	}},
	{"a member of etcd is paused", nil, func(f *fleet, w *workload, number int) {
		// Every third time it is the leader.
		f.must(f.members[(f.leader()+number)%size].pause())
		w.awaitProgress(someUpdates)
	}},
	{"a member of etcd begins anew", nil, func(f *fleet, w *workload, number int) {
		victim := number % size
		f.members[victim].kill()
		f.renewMember(victim)
		w.awaitProgress(someUpdates)
	}},
	{"etcd loses its majority", nil, loseMajority},
	{"all of etcd is killed", nil, func(f *fleet, _ *workload, _ int) {
		for _, m := range f.members {
			m.kill()
		}
		for _, m := range f.members {
			f.must(m.start())
		}
	}},
	{"etcd is full", []string{fmt.Sprintf("--quota-backend-bytes=%d", smallQuota)}, fillEtcd},
	{"a server is killed", nil, func(f *fleet, w *workload, number int) {
		f.servers[number%size].kill()
		w.awaitProgress(someUpdates)
	}},
	{"a server is paused", nil, func(f *fleet, w *workload, number int) {
		f.must(f.servers[number%size].pause())
		w.awaitProgress(someUpdates)
	}},
	{"all servers are killed", nil, func(f *fleet, _ *workload, _ int) {
		for _, s := range f.servers {
			s.kill()
		}
	}},
	{"a server is cut off from etcd", nil, func(f *fleet, w *workload, number int) {
		cutOff(f, w, number%size, (*proxy).cut)
	}},
	{"a server hears nothing of etcd", nil, func(f *fleet, w *workload, number int) {
		cutOff(f, w, number%size, (*proxy).hold)
	}},
	{"links are slow, and end", nil, func(f *fleet, w *workload, number int) {
		links := f.servers[number%size].links
		for i, link := range links {
			link.slow(time.Duration(20*i*i) * time.Millisecond)
		}
		for _, link := range links {
			w.awaitProgress(someUpdates / size)
			link.drop()
		}
		links[number%size].hold()
		w.awaitProgress(someUpdates)
	}},
	{"etcd forgets what a paused server has not read", nil, forgetBehind},
	{"the leader of etcd is cut off from the others", nil, func(f *fleet, w *workload, number int) {
		isolate(f, w, f.leader(), number)
	}},
	{"a member of etcd is cut off from the others", nil, func(f *fleet, w *workload, number int) {
		isolate(f, w, (f.leader()+1+number%2)%size, number)
	}},
	// In the next two it is the leader every third time, and the first. A member that is not heard follows a
	// leader that tells it nothing new, for want of its answers.
	{"a member of etcd is not heard by the others", nil, func(f *fleet, w *workload, number int) {
		victim := (f.leader() + number) % size
		part(f, w, victim, func() { f.peers.eachOther(victim, func(other int) { f.peers.mute(victim, other) }) })
	}},
	{"a member of etcd does not hear the others", nil, func(f *fleet, w *workload, number int) {
		victim := (f.leader() + number) % size
		part(f, w, victim, func() { f.peers.eachOther(victim, func(other int) { f.peers.mute(other, victim) }) })
	}},
	// The third member hears both.
	{"the leader of etcd and another do not hear each other", nil, func(f *fleet, w *workload, number int) {
		leader := f.leader()
		pair := [2]int{(leader + 1) % size, leader}
		part(f, w, pair[number%2], func() {
			f.peers.mute(pair[0], pair[1])
			f.peers.mute(pair[1], pair[0])
		})
	}},
	{"several at once", nil, failAtRandom},
}

// loseMajority judges that all servers answer without etcd, and refuse changes.
func loseMajority(f *fleet, w *workload, number int) {
	f.members[number%size].kill()
	f.members[(number+1)%size].kill()
	for i := range f.servers {
		w.expectRefusals(i)
	}
}

// cutOff judges that a server that does not reach etcd answers, refuses changes, and takes them again.
func cutOff(f *fleet, w *workload, victim int, how func(*proxy)) {
	f.servers[victim].eachLink(how)
	w.expectRefusals(victim)
	w.awaitProgress(someUpdates)
	f.servers[victim].eachLink((*proxy).mend)
	w.awaitChanges(victim)
}

// expectRefusals waits until a server refuses changes, and judges that it does so at once, that its
// health says so, and that it answers questions.
func (w *workload) expectRefusals(at int) {
	f := w.fleet
	f.t.Helper()
	f.await(fmt.Sprintf("server %d refuses changes", at), func() bool { return !f.serves(at, "waystar.storage") })
	// A change of a map whose last change may have been made waits for its deadline.
	if err := w.prober.updateAt(w.quiet, at, patience); !isRefusal(err, codes.Unavailable, "STORAGE_FAILED") {
		w.report("server %d does not reach etcd, and answers a change: %v (%s)", at, err, reasonOf(err))
	}
	w.expectAnswers(at)
}

// expectAnswers judges that a server that cannot change maps serves them.
func (w *workload) expectAnswers(at int) {
	f := w.fleet
	f.t.Helper()
	if !f.serves(at, "") {
		w.report("server %d says that it does not serve", at)
	}
	for _, shared := range w.maps {
		if err := readAt(f.servers[at], shared); err != nil {
			w.report("server %d does not answer: %v", at, err)
		}
	}
}

func isRefusal(err error, code codes.Code, reason string) bool {
	return status.Code(err) == code && reasonOf(err) == reason
}

func readAt(s *server, shared *sharedMap) error {
	_, err := attempted(context.Background(), func(ctx context.Context) (*pb.CheckReachabilityResponse, error) {
		return s.paths.CheckReachability(ctx, &pb.CheckReachabilityRequest{Map: shared.id, Pairs: everyCell})
	})
	return err
}

// awaitChanges waits until a server takes changes of all maps.
func (w *workload) awaitChanges(at int) {
	w.fleet.t.Helper()
	for _, shared := range w.maps {
		w.fleet.await(fmt.Sprintf("server %d takes changes", at), func() bool {
			return w.prober.updateAt(shared, at, attemptTime) == nil
		})
	}
}

// forgetBehind has etcd forget what a server was told while it could not hear it.
func forgetBehind(f *fleet, w *workload, number int) {
	victim := number % size
	s := f.servers[victim]
	f.must(s.pause())
	s.eachLink((*proxy).cut)
	w.awaitProgress(someUpdates)
	f.compact()
	s.eachLink((*proxy).mend)
	f.must(s.resume())
	w.awaitChanges(victim)
}

const (
	smallQuota = 16 << 20
	filler     = "filler"
)

// fillEtcd nearly fills etcd, has the clients fill it, judges what the servers say, and makes space as
// the documentation has it.
func fillEtcd(f *fleet, w *workload, _ int) {
	refused := w.refused.Load()
	for _, amount := range []int64{1 << 20, 16 << 10} {
		for {
			current, err := f.memberStatus(0)
			f.must(err)
			if current.DBSize+3*amount > smallQuota {
				break
			}
			if _, err := f.controlWith(0, bytes.NewReader(bytes.Repeat([]byte{'-'}, int(amount))), "put", filler); err != nil {
				break
			}
		}
	}
	f.await("etcd is full", func() bool { return w.refused.Load() > refused+someUpdates })
	for i := range f.servers {
		f.await(fmt.Sprintf("server %d knows that etcd is full", i), func() bool { return !f.serves(i, "waystar.storage") })
		for _, shared := range w.maps {
			if err := w.prober.updateAt(shared, i, attemptTime); !isRefusal(err, codes.ResourceExhausted, "STORAGE_FULL") {
				w.report("etcd is full, and server %d answers a change of %s: %v (%s)", i, shared.id, err, reasonOf(err))
			}
		}
		w.expectAnswers(i)
	}
	f.compact()
	for i := range f.members {
		f.mustControl(i, "defrag")
	}
	f.mustControl(0, "alarm", "disarm")
	for i := range f.servers {
		w.awaitChanges(i)
	}
}

// steer has all servers use one member of etcd: they stay with one as long as it does not fail them.
func steer(f *fleet, w *workload, member int) {
	for _, s := range f.servers {
		s.eachLink((*proxy).cut)
		s.links[member].mend()
	}
	for i := range f.servers {
		w.awaitChanges(i)
	}
	for _, s := range f.servers {
		s.eachLink((*proxy).mend)
	}
}

// part judges that all servers take changes by the other members when the one that they use is parted
// from these.
func part(f *fleet, w *workload, victim int, how func()) {
	steer(f, w, victim)
	how()
	for i := range f.servers {
		w.awaitChanges(i)
	}
	w.awaitProgress(someUpdates)
}

// isolate cuts a member of etcd off from the others. Every other time nobody is told.
func isolate(f *fleet, w *workload, victim, number int) {
	how := []func(*proxy){(*proxy).cut, (*proxy).hold}[number%2]
	part(f, w, victim, func() { f.peers.isolate(victim, how) })
}

// failAtRandom has a member and a server fail, and links of another server. A third server reaches a
// majority all the time.
func failAtRandom(f *fleet, w *workload, number int) {
	random := rand.New(rand.NewPCG(2, uint64(number)))
	m, s, linked := random.IntN(size), random.IntN(size), 1+random.IntN(size-1)
	switch random.IntN(4) {
	case 0:
		f.members[m].kill()
	case 1:
		f.must(f.members[m].pause())
	case 2:
		f.peers.isolate(m, (*proxy).hold)
	}
	for _, link := range f.servers[(s+linked)%size].links {
		[]func(){link.cut, link.hold, link.drop, func() { link.slow(100 * time.Millisecond) }, func() {}}[random.IntN(5)]()
	}
	w.awaitProgress(someUpdates)
	switch random.IntN(3) {
	case 0:
		f.servers[s].kill()
	case 1:
		f.must(f.servers[s].pause())
	}
	w.awaitProgress(someUpdates)
}
