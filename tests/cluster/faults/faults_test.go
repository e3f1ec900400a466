package faults

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"
)

var operations = flag.Int("operations", 105_000, "operations of all faults together, without -short")

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
				goal = shortOperations
			}
			f := startFleet(t, each.flags...)
			w := startWorkload(f)
			defer w.end()
			w.awaitProgress(someUpdates)
			// Clients do most of their work between faults, not to take all day.
			until := time.Now().Add(roundsTime)
			for number := 0; number == 0 || w.history.size() < goal && time.Now().Before(until); number++ {
				each.round(f, w, number)
				f.heal()
				w.awaitProgress(someUpdates)
			}
			f.await("operations", func() bool { return w.history.size() >= goal })
			w.end()
			w.judge()
		})
	}
}

const (
	// Of one fault, with -short.
	shortOperations = 500
	// How long new rounds of a fault begin.
	roundsTime = 15 * time.Second
)
