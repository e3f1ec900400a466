package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	pb "waystar.dev/proto/waystar/v1"
)

const size = 3

// How long anything may take that is waited for. It is generous: the machine may be busy.
const patience = 2 * time.Minute

// A member is one of etcd.
type member struct {
	*process
	client, data string
}

// A server is one of the fleet, with a connection to it and a link to each member of etcd.
type server struct {
	*process
	address    string
	links      [size]*proxy
	connection *grpc.ClientConn
	maps       pb.MapServiceClient
	paths      pb.PathServiceClient
	health     grpc_health_v1.HealthClient
}

// A fleet is three servers that share maps through three members of etcd. One goroutine uses it, but
// clients may use the connections.
type fleet struct {
	t       testing.TB
	folder  string
	members [size]*member
	peers   *peerNetwork
	servers [size]*server
}

// startFleet starts one with these flags for each member. It ends with the test; its logs stay if
// the test fails.
func startFleet(t testing.TB, flags ...string) *fleet {
	t.Helper()
	folder, err := os.MkdirTemp("", "waystar-faults-")
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, folder: folder}
	t.Cleanup(f.end)
	addresses, err := freeAddresses(3 * size)
	if err != nil {
		t.Fatal(err)
	}
	f.peers, err = newPeerNetwork([size]string(addresses[size : 2*size]))
	f.must(err)
	for i := range f.members {
		m := &member{client: addresses[i], data: fmt.Sprintf("%s/etcd-%d", folder, i)}
		f.members[i] = m
		m.process = newProcess(folder, fmt.Sprintf("etcd-%d", i), append([]string{
			"etcd", "--name=" + memberName(i), "--data-dir=" + m.data,
			"--listen-client-urls=http://" + m.client, "--advertise-client-urls=http://" + m.client,
			"--listen-peer-urls=http://" + addresses[size+i], "--initial-advertise-peer-urls=" + peerURL(i),
			"--initial-cluster=" + initialCluster(), "--logger=zap", "--log-level=warn",
		}, flags...)...)
		m.environment = f.peers.environment(i)
		f.must(m.start())
	}
	for i := range f.members {
		f.awaitMember(i)
	}
	for i := range f.servers {
		f.servers[i] = f.newServer(i, addresses[2*size+i])
		f.must(f.servers[i].start())
	}
	for i := range f.servers {
		f.awaitServer(i)
	}
	return f
}

func (s *server) eachLink(how func(*proxy)) {
	for _, link := range s.links {
		how(link)
	}
}

func (f *fleet) newServer(number int, address string) *server {
	s := &server{address: address}
	var links []string
	for i, m := range f.members {
		link, err := newProxy(m.client)
		f.must(err)
		s.links[i] = link
		links = append(links, link.address())
	}
	s.process = newProcess(f.folder, fmt.Sprintf("server-%d", number), serverProgram(), "--listen="+address,
		"--cluster=etcd://"+strings.Join(links, ",")+"/waystar")
	s.connection = dial(f.t, address)
	s.maps = pb.NewMapServiceClient(s.connection)
	s.paths = pb.NewPathServiceClient(s.connection)
	s.health = grpc_health_v1.NewHealthClient(s.connection)
	return s
}

func serverProgram() string {
	if program := os.Getenv("WAYSTAR_SERVER"); program != "" {
		return program
	}
	return "../../../../build/release/bin/waystar-server"
}

// dial connects to an address, and again soon after a connection has ended.
func dial(t testing.TB, address string) *grpc.ClientConn {
	t.Helper()
	again := backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.5, Jitter: 0.2, MaxDelay: 200 * time.Millisecond}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: 2 * time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	return connection
}

func (f *fleet) end() {
	for _, s := range f.servers {
		if s == nil {
			continue
		}
		s.connection.Close()
		s.kill()
		s.eachLink((*proxy).close)
	}
	for _, m := range f.members {
		if m != nil {
			m.kill()
		}
	}
	if f.peers != nil {
		f.peers.close()
	}
	if f.t.Failed() {
		f.t.Logf("the logs are in %s", f.folder)
		return
	}
	os.RemoveAll(f.folder)
}

func (f *fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// await waits until a condition holds.
func (f *fleet) await(what string, condition func() bool) {
	f.t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		if time.Now().After(deadline) {
			f.t.Fatalf("in vain waited for %s; the logs are in %s", what, f.folder)
		}
		<-tick.C
	}
}

func memberName(number int) string { return fmt.Sprintf("member%d", number) }

func initialCluster() string {
	peers := make([]string, 0, size)
	for i := range size {
		peers = append(peers, memberName(i)+"="+peerURL(i))
	}
	return strings.Join(peers, ",")
}

// control runs etcdctl for one member.
func (f *fleet) control(number int, arguments ...string) (string, error) {
	return f.controlWith(number, nil, arguments...)
}

func (f *fleet) controlWith(number int, input io.Reader, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, "etcdctl", append([]string{"--endpoints=http://" + f.members[number].client}, arguments...)...)
	command.Env = append(os.Environ(), "ETCDCTL_API=3")
	command.Stdin = input
	output, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("etcdctl %s: %w: %s", strings.Join(arguments, " "), err, output)
	}
	return string(output), err
}

func (f *fleet) mustControl(number int, arguments ...string) string {
	f.t.Helper()
	output, err := f.control(number, arguments...)
	f.must(err)
	return output
}

// compact has etcd forget all earlier revisions.
func (f *fleet) compact() {
	f.t.Helper()
	current, err := f.memberStatus(0)
	f.must(err)
	f.mustControl(0, "compact", fmt.Sprint(current.Header.Revision))
}

type memberStatus struct {
	Header struct {
		MemberID uint64 `json:"member_id"`
		Revision int64  `json:"revision"`
	} `json:"header"`
	Leader uint64 `json:"leader"`
	DBSize int64  `json:"dbSize"`
}

func (f *fleet) memberStatus(number int) (memberStatus, error) {
	output, err := f.control(number, "--command-timeout=5s", "--dial-timeout=5s", "endpoint", "status", "--write-out=json")
	if err != nil {
		return memberStatus{}, err
	}
	var statuses []struct{ Status memberStatus }
	if err := json.Unmarshal([]byte(output[strings.Index(output, "["):]), &statuses); err != nil || len(statuses) == 0 {
		return memberStatus{}, fmt.Errorf("etcdctl told %q: %w", output, err)
	}
	return statuses[0].Status, nil
}

// leader returns the member that leads, once there is one.
func (f *fleet) leader() int {
	f.t.Helper()
	leader := -1
	f.await("a leader of etcd", func() bool {
		for i, m := range f.members {
			if m.isKilled() {
				continue
			}
			if status, err := f.memberStatus(i); err == nil && status.Leader == status.Header.MemberID {
				leader = i
			}
		}
		return leader >= 0
	})
	return leader
}

func (f *fleet) awaitMember(number int) {
	f.t.Helper()
	// It need not have caught up: while clients work on a busy machine, that may take long.
	f.await(f.members[number].name, func() bool {
		_, err := f.control(number, "--command-timeout=5s", "--dial-timeout=5s", "get", "health", "--consistency=s")
		return err == nil
	})
}

func (f *fleet) restartMember(number int) {
	f.t.Helper()
	f.must(f.members[number].start())
	f.awaitMember(number)
}

// renewMember has a member that is killed begin anew, with no data.
func (f *fleet) renewMember(number int) {
	f.t.Helper()
	other := (number + 1) % size
	f.await("etcd lets the member go", func() bool {
		list, err := f.control(other, "member", "list")
		for _, line := range strings.Split(list, "\n") {
			if fields := strings.Split(line, ", "); len(fields) > 2 && fields[2] == memberName(number) {
				_, _ = f.control(other, "member", "remove", fields[0])
				return false
			}
		}
		return err == nil
	})
	m := f.members[number]
	f.must(os.RemoveAll(m.data))
	f.await("etcd takes the member", func() bool {
		_, err := f.control(other, "member", "add", memberName(number), "--peer-urls="+peerURL(number))
		// It may have been taken though nobody said so in time.
		return err == nil || strings.Contains(err.Error(), "Peer URLs already exists")
	})
	m.arguments = append(m.arguments, "--initial-cluster-state=existing")
	f.restartMember(number)
}

// serves says what the server's health of a service is; "" is the server itself.
func (f *fleet) serves(number int, service string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	answer, err := f.servers[number].health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	return err == nil && answer.Status == grpc_health_v1.HealthCheckResponse_SERVING
}

// awaitServer waits until a server has all maps and takes changes.
func (f *fleet) awaitServer(number int) {
	f.t.Helper()
	f.await(f.servers[number].name, func() bool { return f.serves(number, "") && f.serves(number, "waystar.storage") })
}

func (f *fleet) restartServer(number int) {
	f.t.Helper()
	f.must(f.servers[number].start())
	f.awaitServer(number)
}

// heal ends all faults that may last, and waits until all servers take changes.
func (f *fleet) heal() {
	f.t.Helper()
	f.peers.mend()
	for i, m := range f.members {
		if m.isKilled() {
			f.restartMember(i)
		}
		f.must(m.resume())
	}
	for _, s := range f.servers {
		s.eachLink((*proxy).mend)
		if s.isKilled() {
			f.must(s.start())
		}
		f.must(s.resume())
	}
	for i := range f.servers {
		f.awaitServer(i)
	}
}

// complaints returns what no fault excuses: programs that ended by themselves, and lines of the
// servers' logs that tell of damage.
func (f *fleet) complaints() []string {
	var found []string
	for _, m := range f.members {
		if m.hasEnded() {
			found = append(found, m.name+" has ended by itself")
		}
	}
	for _, s := range f.servers {
		if s.hasEnded() {
			found = append(found, s.name+" has ended by itself")
		}
		log, err := os.ReadFile(s.log)
		f.must(err)
		for _, line := range strings.Split(string(log), "\n") {
			isExpected := strings.Contains(line, "event=changes_refused")
			for _, bad := range []string{"level=error", "event=map_broken", "event=map_damaged", "Assertion", "Sanitizer"} {
				if strings.Contains(line, bad) && !isExpected {
					found = append(found, s.name+": "+line)
					break
				}
			}
		}
	}
	return found
}
