package tests

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	waystar "waystar.dev/client"
	pb "waystar.dev/proto/waystar/v1"
)

func TestFindsPaths(t *testing.T) {
	client := newClient(t, startSamples(t).address, waystar.Options{Timeout: patience})
	arena := client.Map("ten-by-ten")
	answer, err := arena.FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(7, 7), func(query *pb.FindPathRequest) {
		query.PathForm = pb.PathForm_PATH_FORM_CORNERS
	})
	must(t, err)
	expect(t, "the outcome", answer.Outcome, pb.Outcome_OUTCOME_FOUND)
	expect(t, "the form", answer.Path.Form, pb.PathForm_PATH_FORM_CORNERS)
	_, err = arena.FindPath(patient(t), waystar.Position(0.5, 0.5, 0), waystar.Position(7.5, 7.5, 0))
	must(t, err)

	_, err = arena.FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(70, 7))
	var failure *waystar.Error
	if !errors.As(err, &failure) {
		t.Fatalf("%v has another type", err)
	}
	expect(t, "the code", failure.Code, codes.OutOfRange)
	expect(t, "the reason", failure.Reason, "OFF_MAP")
	expect(t, "the field", failure.Field, "goals[0]")
	expect(t, "the code for gRPC", status.Code(err), codes.OutOfRange)
	_, err = arena.FindPath(patient(t), waystar.Node("harbour"), waystar.Cell(7, 7))
	expectReason(t, err, "WRONG_MAP_KIND")
	_, err = client.Map("nowhere").FindPath(context.Background(), waystar.Cell(0, 0), waystar.Cell(7, 7))
	expectReason(t, err, "MAP_NOT_FOUND")
}

func TestUpdates(t *testing.T) {
	client := newClient(t, startServer(t).address, waystar.Options{Timeout: patience})
	yard := createYard(t, client)
	free := costAcross(t, yard)
	wall := waystar.PutObstacle("wall", waystar.Rect(3, 1, 7, 1))
	for _, step := range []struct {
		what  string
		edits []*pb.Edit
		free  bool
	}{
		{"a disc", []*pb.Edit{waystar.PutObstacle("wall", waystar.Disc(5, 1, 1))}, false},
		{"moved away", []*pb.Edit{waystar.MoveObstacle("wall", 0, 10)}, true},
		{"a wall with a way round", []*pb.Edit{wall, waystar.MoveObstacle("wall", -1, 0)}, false},
		{"without", []*pb.Edit{waystar.RemoveObstacle("wall")}, true},
		{"blocked", []*pb.Edit{waystar.Block(waystar.Rect(4, 0, 1, 3))}, false},
		{"unblocked", []*pb.Edit{waystar.Unblock(waystar.Rect(4, 0, 1, 3))}, true},
	} {
		_, err := yard.Update(patient(t), step.edits...)
		must(t, err)
		expect(t, step.what, costAcross(t, yard) == free, step.free)
	}
	_, err := yard.Update(patient(t), wall, waystar.RemoveObstacle("tree"))
	expectReason(t, err, "OBSTACLE_NOT_FOUND")
}

func TestChecksMoves(t *testing.T) {
	client := newClient(t, startServer(t).address, waystar.Options{Timeout: patience})
	yard := createYard(t, client)
	answer, err := yard.CheckMoves(patient(t), 2, []*pb.MoveToCheck{
		waystar.Move(waystar.Cell(0, 0), waystar.Cell(4, 0), 3*time.Second),
		waystar.Move(waystar.Cell(0, 0), waystar.Cell(9, 0), 3*time.Second),
	})
	must(t, err)
	expect(t, "the slow move", answer.Results[0].Verdict, pb.MoveVerdict_MOVE_VERDICT_OK)
	expect(t, "the fast move", answer.Results[1].Verdict, pb.MoveVerdict_MOVE_VERDICT_TOO_FAST)
}

func TestQueriesOutliveAReplacedMap(t *testing.T) {
	address := startServer(t).address
	client := newClient(t, address, waystar.Options{Timeout: patience})
	yard := createYard(t, client)
	_, err := yard.Update(patient(t), waystar.Block(waystar.Rect(4, 0, 1, 3)))
	must(t, err)

	other := newClient(t, address, waystar.Options{Timeout: patience})
	_, err = other.Maps.DeleteMap(patient(t), &pb.DeleteMapRequest{Map: "yard"})
	must(t, err)
	createYard(t, other)
	expect(t, "the cost on the new map", costAcross(t, yard), 9)
	_, err = yard.FindPath(patient(t), waystar.Cell(0, 1), waystar.Cell(9, 1), func(query *pb.FindPathRequest) {
		query.View = &pb.View{LeastVersion: &pb.Version{Epoch: 1, Revision: 1}}
	})
	expectReason(t, err, "MAP_REPLACED")
}

func TestDeadline(t *testing.T) {
	server := startSamples(t)
	client := newClient(t, server.address, waystar.Options{Timeout: 50 * time.Millisecond})
	patientClient := newPatientClient(t, server.address)
	find := func(client *waystar.Client, ctx context.Context) error {
		_, err := client.Map("ten-by-ten").FindPath(ctx, waystar.Cell(0, 0), waystar.Cell(7, 7))
		return err
	}
	must(t, find(patientClient, patient(t)))
	resume := server.pause()
	defer resume()
	expect(t, "the code", status.Code(find(client, context.Background())), codes.DeadlineExceeded)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	expect(t, "the code", status.Code(find(patientClient, ctx)), codes.DeadlineExceeded)
	expect(t, "the code", status.Code(streamed(patientClient.StreamFindPath(patient(t)), ctx)), codes.DeadlineExceeded)
}

func TestRestart(t *testing.T) {
	server := startSamples(t)
	client := newPatientClient(t, server.address)
	for range 3 {
		_, err := client.Map("ten-by-ten").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(7, 7))
		must(t, err)
		server.kill()
		server.start()
	}
	server.kill()
	impatient := newClient(t, server.address, waystar.Options{Timeout: patience})
	_, err := impatient.Map("ten-by-ten").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(7, 7))
	expect(t, "the code", status.Code(err), codes.Unavailable)
}

func TestSeveralServers(t *testing.T) {
	first, second := startSamples(t), startSamples(t)
	client := newClient(t, first.address+","+second.address, waystar.Options{Timeout: patience})
	arena := client.Map("ten-by-ten")
	_, err := arena.Update(patient(t), waystar.Block(waystar.Rect(0, 0, 1, 1)))
	expect(t, "the code", status.Code(err), codes.FailedPrecondition)
	_, err = client.Maps.ImportMap(patient(t))
	expect(t, "the code", status.Code(err), codes.FailedPrecondition)

	// Calls go on while servers drain one after the other.
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for _, server := range []*server{first, second} {
			server.stop(syscall.SIGTERM)
			server.start()
			waitUntilUsed(t, client, server)
		}
	}()
	for isStopped := false; !isStopped; {
		_, err := arena.FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(7, 7))
		must(t, err)
		select {
		case <-stopped:
			isStopped = true
		default:
		}
	}
}

// A client tries a server that was away again after a pause, in which it has only the others.
func waitUntilUsed(t *testing.T, client *waystar.Client, server *server) {
	for {
		var from peer.Peer
		_, err := client.Server.GetServerInfo(patient(t), &pb.GetServerInfoRequest{}, grpc.Peer(&from))
		must(t, err)
		if from.Addr.String() == server.address {
			return
		}
	}
}

func TestTokensAndTLS(t *testing.T) {
	folder := t.TempDir()
	made, err := exec.Command(filepath.Join(os.Getenv("WAYSTAR_BIN"), "waystar"), "token", "game", "read:*").Output()
	must(t, err)
	lines := strings.Split(string(made), "\n")
	tokens := filepath.Join(folder, "tokens")
	must(t, os.WriteFile(tokens, []byte(lines[3]+"\n"), 0o600))
	roots := makeCertificate(t, folder)
	plain := startSamples(t, "--tokens_file="+tokens)
	secure := startSamples(t, "--tokens_file="+tokens,
		"--tls_cert="+filepath.Join(folder, "cert.pem"), "--tls_key="+filepath.Join(folder, "key.pem"))
	trusting := &tls.Config{RootCAs: roots, ServerName: "localhost"}

	find := func(server *server, options waystar.Options) error {
		options.Timeout = patience
		client := newClient(t, server.address, options)
		_, err := client.Map("ten-by-ten").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(7, 7))
		return err
	}
	must(t, find(plain, waystar.Options{Token: lines[1]}))
	must(t, find(secure, waystar.Options{Token: lines[1], TLS: trusting}))
	expectReason(t, find(plain, waystar.Options{}), "MISSING_TOKEN")
	expectReason(t, find(plain, waystar.Options{Token: "wrong"}), "BAD_TOKEN")
	expectReason(t, find(secure, waystar.Options{Token: "wrong", TLS: trusting}), "BAD_TOKEN")
	distrusting := &tls.Config{RootCAs: roots, ServerName: "elsewhere"}
	expect(t, "the code", status.Code(find(secure, waystar.Options{TLS: distrusting})), codes.Unavailable)

	client := newClient(t, plain.address, waystar.Options{Token: "wrong"})
	agents := client.FollowAgents(patient(t), nil)
	for range agents.News() {
		t.Fatal("There is no news with a wrong token")
	}
	expectReason(t, agents.Flush(), "BAD_TOKEN")
	failures := 0
	for _, err := range client.Map("ten-by-ten").Watch(patient(t)) {
		expectReason(t, err, "BAD_TOKEN")
		failures++
	}
	expect(t, "the number of errors", failures, 1)
	expectReason(t, streamed(client.StreamFindPath(patient(t)), patient(t)), "BAD_TOKEN")
}

// The certificate is for localhost and its own root.
func makeCertificate(t *testing.T, folder string) *x509.CertPool {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, DNSNames: []string{"localhost"}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: certificate}, "key.pem": {Type: "PRIVATE KEY", Bytes: keyBytes}} {
		must(t, os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600))
	}
	parsed, err := x509.ParseCertificate(certificate)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return roots
}

func TestTokensStayOnThisMachine(t *testing.T) {
	interfaces, err := net.InterfaceAddrs()
	must(t, err)
	for _, each := range interfaces {
		address, ok := each.(*net.IPNet)
		if !ok || address.IP.IsLoopback() || address.IP.To4() == nil {
			continue
		}
		listener, err := net.Listen("tcp", address.IP.String()+":0")
		must(t, err)
		defer listener.Close()
		client := newClient(t, listener.Addr().String(), waystar.Options{Token: "secret"})
		_, err = client.Map("yard").FindPath(patient(t), waystar.Cell(0, 0), waystar.Cell(1, 0))
		expect(t, "the code", status.Code(err), codes.Unavailable)
		return
	}
	t.Skip("This machine has no other address")
}

func TestTargets(t *testing.T) {
	for _, good := range []string{"localhost", "localhost:7450", "10.0.0.1", "[::1]:7450", "::1", "unix:/tmp/socket",
		"10.0.0.1,10.0.0.2:7451", "ipv4:10.0.0.1:7450,10.0.0.2:7450", "dns:///waystar.internal:7450"} {
		newClient(t, good, waystar.Options{})
	}
	for _, bad := range []string{"", "one,two", "10.0.0.1,", "ipv4:host:7450", "http://localhost:7450"} {
		_, err := waystar.New(bad, waystar.Options{})
		expect(t, bad, status.Code(err), codes.InvalidArgument)
	}
}
