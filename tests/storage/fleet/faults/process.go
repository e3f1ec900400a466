// Package faults has servers of a fleet, members of etcd and links that fail, from servers to members
// and among members, and judges what clients were told meanwhile.
package faults

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// A process is a program that can be ended, paused and started again. One goroutine uses it.
type process struct {
	name      string
	arguments []string
	// Beside that of this process.
	environment []string
	log         string

	command *exec.Cmd
	exited  chan struct{}
}

func newProcess(folder, name string, arguments ...string) *process {
	return &process{name: name, arguments: arguments, log: fmt.Sprintf("%s/%s.log", folder, name)}
}

// start starts it, with the log that it has had before.
func (p *process) start() error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(p.arguments[0], p.arguments[1:]...)
	command.Env = append(os.Environ(), p.environment...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := startInLastingThread(command); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(exited)
	}()
	p.command, p.exited = command, exited
	return nil
}

// kill ends it at once, also while it is paused.
func (p *process) kill() {
	if p.command == nil {
		return
	}
	_ = p.command.Process.Kill()
	<-p.exited
	p.command = nil
}

func (p *process) isKilled() bool { return p.command == nil }

// hasEnded says whether it has ended though nobody has killed it.
func (p *process) hasEnded() bool {
	if p.command == nil {
		return false
	}
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// pause keeps it from doing anything, as a machine that hangs would.
func (p *process) pause() error  { return p.command.Process.Signal(syscall.SIGSTOP) }
func (p *process) resume() error { return p.command.Process.Signal(syscall.SIGCONT) }

var (
	starts     = make(chan func())
	startsOnce sync.Once
)

// A child dies with the thread that has started it, and Go ends threads as it likes: so this one stays.
func startInLastingThread(command *exec.Cmd) error {
	startsOnce.Do(func() {
		go func() {
			runtime.LockOSThread()
			for start := range starts {
				start()
			}
		}()
	})
	result := make(chan error)
	starts <- func() { result <- command.Start() }
	return <-result
}

// freeAddresses returns addresses that stay free: no other program is likely to use their host, this
// one listens at proxyHost, and none is given twice.
func freeAddresses(count int) ([]string, error) {
	addresses := make([]string, 0, count)
	for range count {
		listener, err := net.Listen("tcp", ownHost()+":0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}

// ownHost and proxyHost return addresses of the loopback interface that depend on the process: that of
// the programs that it starts, and that of its own proxies.
func ownHost() string   { return loopbackHost(1) }
func proxyHost() string { return loopbackHost(2) }

func loopbackHost(which uint32) string {
	number := uint32(os.Getpid()%0x3fffff)<<1 + which
	return fmt.Sprintf("127.%d.%d.%d", number>>16&0xff, number>>8&0xff, number&0xff)
}
