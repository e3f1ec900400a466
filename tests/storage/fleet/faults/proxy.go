package faults

import (
	"net"
	"sync"
	"time"
)

// A way is the direction in which bytes go: to the target, or from it.
type way int

const (
	forth way = iota
	back
)

// A proxy passes TCP connections on to a target, and makes them fail. Any goroutine may use it.
type proxy struct {
	listener net.Listener
	target   string

	mutex sync.Mutex
	// Closed, and made anew, whenever what follows changes.
	changed     chan struct{}
	isCut       bool
	isHeld      [2]bool
	delay       time.Duration
	connections map[net.Conn]struct{}
}

func newProxy(target string) (*proxy, error) {
	listener, err := net.Listen("tcp", proxyHost()+":0")
	if err != nil {
		return nil, err
	}
	p := newLink(target)
	p.listener = listener
	go p.accept()
	return p, nil
}

// newLink returns a proxy that does not listen: its connections are handed to it.
func newLink(target string) *proxy {
	return &proxy{target: target, changed: make(chan struct{}), connections: make(map[net.Conn]struct{})}
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// cut resets all connections, and those to come.
func (p *proxy) cut() {
	p.change(func() { p.isCut = true })
	p.drop()
}

// hold keeps all that is sent, as a network does that loses packets: nobody is told. It comes later
// if the proxy is mended before the peers have given the connection up.
func (p *proxy) hold() { p.change(func() { p.isHeld = [2]bool{true, true} }) }

// holdWay keeps what goes one way alone.
func (p *proxy) holdWay(held way) { p.change(func() { p.isHeld[held] = true }) }

// slow delays each byte, either way, for so long.
func (p *proxy) slow(delay time.Duration) { p.change(func() { p.delay = delay }) }

// drop resets the connections that there are.
func (p *proxy) drop() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for connection := range p.connections {
		reset(connection)
	}
}

func (p *proxy) mend() { p.change(func() { p.isCut, p.isHeld, p.delay = false, [2]bool{}, 0 }) }

func (p *proxy) close() {
	p.listener.Close()
	p.cut()
}

func (p *proxy) change(how func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	how()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

func (p *proxy) serve(client net.Conn) {
	defer reset(client)
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer reset(server)
	if !p.note(client, server) {
		return
	}
	defer p.forget(client, server)
	ended := make(chan struct{}, 2)
	go func() { p.pump(client, server, forth); ended <- struct{}{} }()
	go func() { p.pump(server, client, back); ended <- struct{}{} }()
	<-ended
	reset(client)
	reset(server)
	<-ended
}

func (p *proxy) note(client, server net.Conn) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.isCut {
		return false
	}
	p.connections[client] = struct{}{}
	p.connections[server] = struct{}{}
	return true
}

func (p *proxy) forget(client, server net.Conn) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.connections, client)
	delete(p.connections, server)
}

// A parcel is what was read at once, and when it may be written.
type parcel struct {
	bytes []byte
	due   time.Time
}

func (p *proxy) pump(from, to net.Conn, going way) {
	parcels := make(chan parcel, 256)
	isOver := make(chan struct{})
	go func() {
		defer close(isOver)
		for next := range parcels {
			p.awaitPassage(next.due, going)
			if _, err := to.Write(next.bytes); err != nil {
				reset(from)
				break
			}
		}
		for range parcels {
		}
	}()
	for {
		buffer := make([]byte, 32<<10)
		count, err := from.Read(buffer)
		if count > 0 {
			parcels <- parcel{buffer[:count], time.Now().Add(p.currentDelay())}
		}
		if err != nil {
			break
		}
	}
	close(parcels)
	<-isOver
}

func (p *proxy) currentDelay() time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.delay
}

// awaitPassage waits until then, and on while the proxy holds what goes that way.
func (p *proxy) awaitPassage(due time.Time, going way) {
	if wait := time.Until(due); wait > 0 {
		<-time.After(wait)
	}
	for {
		p.mutex.Lock()
		isHeld, changed := p.isHeld[going] && !p.isCut, p.changed
		p.mutex.Unlock()
		if !isHeld {
			return
		}
		<-changed
	}
}

// reset closes a connection so that the peer hears of it at once.
func reset(connection net.Conn) {
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	connection.Close()
}
