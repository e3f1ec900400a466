package faults

import (
	"fmt"
	"io"
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

// A peerNetwork is what members of etcd reach each other by. They know each other by addresses that
// are nowhere, and dial them by way of a SOCKS proxy, as their environment says. Each has a proxy of
// its own: so it is known who dials whom, which connections of the loopback interface do not tell.
type peerNetwork struct {
	doors [size]net.Listener
	// By the member that dials and the one that is dialled.
	links [size][size]*proxy
}

// newPeerNetwork returns one for members that listen at these addresses.
func newPeerNetwork(targets [size]string) (*peerNetwork, error) {
	n := &peerNetwork{}
	for from := range n.doors {
		for to, target := range targets {
			n.links[from][to] = newLink(target)
		}
		door, err := net.Listen("tcp", proxyHost()+":0")
		if err != nil {
			return nil, err
		}
		n.doors[from] = door
		go n.accept(from)
	}
	return n, nil
}

func (n *peerNetwork) close() {
	for from, door := range n.doors {
		if door != nil {
			door.Close()
		}
		for _, link := range n.links[from] {
			if link != nil {
				link.cut()
			}
		}
	}
}

// peerURL is what other members know a member by. A loopback address would be dialled without a proxy.
func peerURL(number int) string { return fmt.Sprintf("http://192.0.2.%d:2380", number+1) }

// environment has a member dial by way of the network.
func (n *peerNetwork) environment(number int) []string {
	proxy := "socks5://" + n.doors[number].Addr().String()
	return []string{"HTTP_PROXY=" + proxy, "http_proxy=" + proxy, "NO_PROXY=", "no_proxy="}
}

func (n *peerNetwork) accept(from int) {
	for {
		client, err := n.doors[from].Accept()
		if err != nil {
			return
		}
		go func() {
			to, err := greet(client)
			if err != nil {
				reset(client)
				return
			}
			n.links[from][to].serve(client)
		}()
	}
}

// greet has a client of SOCKS 5 (RFC 1928) say which member it dials.
func greet(client net.Conn) (int, error) {
	var buffer [255]byte
	read := func(count int) []byte {
		if _, err := io.ReadFull(client, buffer[:count]); err != nil {
			clear(buffer[:])
		}
		return buffer[:count]
	}
	// The methods to authenticate, of which none is taken.
	read(int(read(2)[1]))
	if _, err := client.Write([]byte{5, 0}); err != nil {
		return 0, err
	}
	// CONNECT to an address of IPv4 and a port.
	request := read(10)
	to := int(request[7]) - 1
	if request[0] != 5 || request[1] != 1 || request[3] != 1 || to < 0 || to >= size {
		return 0, fmt.Errorf("a member asked for % x", request)
	}
	_, err := client.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return to, err
}

// isolate does something to all links of a member.
func (n *peerNetwork) isolate(number int, how func(*proxy)) {
	n.eachOther(number, func(other int) {
		how(n.links[number][other])
		how(n.links[other][number])
	})
}

func (n *peerNetwork) eachOther(number int, how func(other int)) {
	for i := 1; i < size; i++ {
		how((number + i) % size)
	}
}

// mute keeps what one member sends another, whichever of them has dialled, and not what comes back.
func (n *peerNetwork) mute(from, to int) {
	n.links[from][to].holdWay(forth)
	n.links[to][from].holdWay(back)
}

func (n *peerNetwork) mend() {
	for number := range size {
		n.isolate(number, (*proxy).mend)
	}
}
