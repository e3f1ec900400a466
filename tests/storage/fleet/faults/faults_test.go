package faults

import (
	"flag"
	"testing"
	"time"
)

var (
	operations = flag.Int("operations", 105_000, "operations of all faults together, without -short")
	budget     = flag.Duration("budget", 450*time.Second,
		"how long all faults together may take; on a busy machine each has fewer operations, to keep to it")
)

func TestFaults(t *testing.T) {
	began := time.Now()
	judged := 0
	for i, each := range faults {
		t.Run(each.name, func(t *testing.T) {
			share := (*budget - time.Since(began)) / time.Duration(len(faults)-i)
			judged += testFault(t, each, time.Now().Add(share))
		})
	}
	t.Logf("%d operations were judged in %v", judged, time.Since(began).Round(time.Second))
}

// testFault returns how many operations it has judged. It waits for the last of them until then, but
// always for those of the short form and of one round.
func testFault(t *testing.T, each fault, until time.Time) int {
	goal := *operations / len(faults)
	if testing.Short() {
		goal = shortOperations
	}
	f := startFleet(t, each.flags...)
	w := startWorkload(f)
	defer w.end()
	w.awaitProgress(someUpdates)
	// Clients do most of their work between faults, which would else take all day.
	roundsUntil := time.Now().Add(min(roundsTime, time.Until(until)/3))
	for number := 0; number == 0 || w.history.size() < goal && time.Now().Before(roundsUntil); number++ {
		each.round(f, w, number)
		f.heal()
		w.awaitProgress(someUpdates)
	}
	f.await("operations", func() bool {
		done := w.history.size()
		return done >= goal || done >= shortOperations && time.Now().After(until)
	})
	w.end()
	w.judge()
	return w.history.size()
}

const (
	// Of one fault, with -short, and the least of any.
	shortOperations = 500
	// For how long rounds of a fault begin.
	roundsTime = 15 * time.Second
)
