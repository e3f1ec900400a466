// Tests of the client against real servers, and against a pretended one for what a real one does rarely.
package tests

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"

	waystar "waystar.dev/client"
	pb "waystar.dev/proto/waystar/v1"
)

// How long anything may take on a busy machine.
const patience = time.Minute

const samples = "../../../server/samples"

// A server is a process of waystar-server, which may be started again on the same port.
type server struct {
	t       testing.TB
	folder  string
	flags   []string
	address string
	process *exec.Cmd
}

// The flag --maps_dir is among the flags where the server has no --data_dir.
func startServer(t testing.TB, flags ...string) *server {
	// All of 127.0.0.0/8 is this machine. On an address of its own, nobody else takes the port between two starts.
	pid := os.Getpid()
	host := fmt.Sprintf("127.%d.%d.%d", 64+pid>>16, pid>>8&255, pid&255)
	s := &server{t: t, folder: t.TempDir(), flags: flags, address: host + ":0"}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func startSamples(t testing.TB, flags ...string) *server {
	return startServer(t, append(flags, "--maps_dir="+samples)...)
}

// Returns when the server answers.
func (s *server) start() {
	s.t.Helper()
	portFile := filepath.Join(s.folder, "port")
	os.Remove(portFile)
	must(s.t, syscall.Mkfifo(portFile, 0o600))
	pipe, err := os.OpenFile(portFile, os.O_RDWR, 0)
	must(s.t, err)
	defer pipe.Close()
	log, err := os.Create(filepath.Join(s.folder, "log"))
	must(s.t, err)
	defer log.Close()
	flags := []string{"--listen=" + s.address, "--port_file=" + portFile, "--max_queue_time=1m", "--queue_target=1m"}
	s.process = exec.Command(filepath.Join(os.Getenv("WAYSTAR_BIN"), "waystar-server"), append(flags, s.flags...)...)
	s.process.Stderr = log
	must(s.t, s.process.Start())
	must(s.t, pipe.SetReadDeadline(time.Now().Add(patience)))
	port, err := bufio.NewReader(pipe).ReadString('\n')
	must(s.t, err)
	host, _, _ := strings.Cut(s.address, ":")
	s.address = host + ":" + strings.TrimSpace(port)
}

func (s *server) kill() {
	s.stop(syscall.SIGKILL)
}

// Returns when the server is gone.
func (s *server) stop(signal syscall.Signal) {
	_ = s.process.Process.Signal(signal)
	_ = s.process.Wait()
}

// Holds the server still until the test lets it go on.
func (s *server) pause() (resume func()) {
	must(s.t, s.process.Process.Signal(syscall.SIGSTOP))
	var stopped syscall.WaitStatus
	_, err := syscall.Wait4(s.process.Process.Pid, &stopped, syscall.WUNTRACED, nil)
	must(s.t, err)
	return func() { must(s.t, s.process.Process.Signal(syscall.SIGCONT)) }
}

func newClient(t testing.TB, target string, options waystar.Options) *waystar.Client {
	t.Helper()
	client, err := waystar.New(target, options)
	must(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

// Calls of this client wait for a server that starts.
func newPatientClient(t testing.TB, target string) *waystar.Client {
	return newClient(t, target, waystar.Options{
		Timeout:     patience,
		DialOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.WaitForReady(true))},
	})
}

func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s is %v, not %v", what, got, want)
	}
}

func expectReason(t testing.TB, err error, reason string) {
	t.Helper()
	expect(t, fmt.Sprintf("the reason of \"%v\"", err), waystar.ReasonOf(err), reason)
}

// Makes a map of 10 x 4 free cells.
func createYard(t testing.TB, client *waystar.Client) *waystar.Map {
	t.Helper()
	_, err := client.Maps.CreateMap(patient(t), &pb.CreateMapRequest{
		Map: "yard", Blank: &pb.BlankGrid{Width: 10, Height: 4}, RequestId: "yard"})
	must(t, err)
	return client.Map("yard")
}

func costAcross(t testing.TB, yard *waystar.Map) float64 {
	t.Helper()
	answer, err := yard.FindPath(patient(t), waystar.Cell(0, 1), waystar.Cell(9, 1))
	must(t, err)
	return answer.Cost
}
