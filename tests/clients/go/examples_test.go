package tests

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Starts an example, and returns a reader of the lines that it prints. The folder WAYSTAR_EXAMPLES has them: test.sh
// builds them with the package of the client.
func startExample(t *testing.T, name string, arguments ...string) *bufio.Scanner {
	program := exec.CommandContext(patient(t), filepath.Join(os.Getenv("WAYSTAR_EXAMPLES"), name), arguments...)
	program.Stderr = os.Stderr
	output, err := program.StdoutPipe()
	must(t, err)
	must(t, program.Start())
	t.Cleanup(func() { must(t, program.Wait()) })
	return bufio.NewScanner(output)
}

func TestTheWalkerArrives(t *testing.T) {
	server := startSamples(t)
	// The other example runs meanwhile. Servers start before, so that none takes the port of one that restarts.
	t.Parallel()
	lines := startExample(t, "walker", server.address)
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	expect(t, "the last place", last, "15 9")
}

func TestTheGameLoopGoesOnAfterARestart(t *testing.T) {
	server := startServer(t, "--data_dir="+t.TempDir())
	t.Parallel()
	lines := startExample(t, "game_loop", server.address, "100", "64")
	var tick, steps, paths, late, lost, allPaths int
	next := func() {
		expect(t, "that there is another line", lines.Scan(), true)
		_, err := fmt.Sscanf(lines.Text(), "tick %d: %d steps, %d paths", &tick, &steps, &paths)
		must(t, err)
	}
	next()
	server.stop(syscall.SIGTERM)
	// This line comes while there is no server.
	next()
	server.start()
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	_, err := fmt.Sscanf(last, "%d ticks, %d late, %d calls lost, %d paths received", &tick, &late, &lost, &allPaths)
	must(t, err)
	t.Log(last)
	expect(t, "the number of calls lost", lost, 0)
	expect(t, "that agents have got other paths", allPaths > paths, true)
}
