package faults

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var operations = flag.Int("operations", 100_000, "operations of all faults together, without -short")

// A fault is what happens to a fleet while clients work, once a round.
type fault struct {
	name string
	// For each member of etcd.
	flags []string
	round func(f *fleet, w *workload, number int)
}

var faults = []fault{
	{"the leader of etcd is killed", nil, func(f *fleet, w *workload, _ int) {
		leader := f.leader()
		f.members[leader].kill()
		w.awaitProgress(50)
		f.restartMember(leader)
	}},
	{"a server is killed", nil, func(f *fleet, w *workload, number int) {
		victim := number % size
		f.servers[victim].kill()
		w.awaitProgress(50)
		f.restartServer(victim)
	}},
}

func TestMain(m *testing.M) {
	flag.Parse()
	if missing := missingPrograms(); missing != "" {
		fmt.Println("Skipped:", missing)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestFaults(t *testing.T) {
	for _, each := range faults {
		t.Run(each.name, func(t *testing.T) {
			goal := *operations / len(faults)
			if testing.Short() {
				goal = 500
			}
			f := startFleet(t, append(quickElections, each.flags...)...)
			w := startWorkload(f)
			w.awaitProgress(20)
			for number := 0; number == 0 || w.history.size() < goal; number++ {
				each.round(f, w, number)
				w.awaitProgress(50)
			}
			f.heal()
			w.end()
			w.judge()
		})
	}
}
