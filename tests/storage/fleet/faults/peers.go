package faults

import (
	"fmt"
	"io"
	"net"
)

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
	for other := range size {
		how(n.links[number][other])
		how(n.links[other][number])
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
