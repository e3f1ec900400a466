package faults

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var operations = flag.Int("operations", 100_000, "operations of all faults together, without -short")

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
			defer w.end()
			w.awaitProgress(20)
			for number := 0; number == 0 || w.history.size() < goal; number++ {
				each.round(f, w, number)
				f.heal()
				w.awaitProgress(50)
			}

			w.end()
			w.judge()
		})
	}
}
