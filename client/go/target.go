package waystar

import (
	"net"
	"net/netip"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/resolver"
)

const (
	defaultPort = "7450"
	// The scheme of a list of addresses, which the resolvers of Go's gRPC do not know.
	listScheme = "waystar-list"
)

type target struct {
	// As gRPC knows it.
	name string
	// All addresses, if they are known.
	addresses []resolver.Address
	// More than one server may be behind it.
	several bool
	// It is a name of one server, whose addresses are used one at a time.
	pickFirst bool
}

func parseTarget(text string) (target, error) {
	if strings.HasPrefix(text, "unix:") || strings.HasPrefix(text, "unix-abstract:") {
		return target{name: text}, nil
	}
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		return target{}, newError(codes.InvalidArgument, "'"+text+"' is an address of the web: write HOST:PORT alone")
	}
	name, isDNS := strings.CutPrefix(text, "dns:///")
	if strings.Contains(name, "//") {
		return target{name: text, several: true}, nil
	}
	isList := strings.Contains(name, ",")
	parsed := target{several: isDNS || isList}
	if strings.HasPrefix(name, "ipv4:") || strings.HasPrefix(name, "ipv6:") {
		name, isList = name[len("ipv4:"):], true
	}
	for part := range strings.SplitSeq(name, ",") {
		host, port, err := net.SplitHostPort(strings.TrimSpace(part))
		if err != nil {
			host, port = strings.Trim(part, "[] "), defaultPort
		}
		if _, err := netip.ParseAddr(host); err == nil {
			parsed.addresses = append(parsed.addresses, resolver.Address{Addr: net.JoinHostPort(host, port)})
			continue
		}
		if host == "" || isList {
			return target{}, newError(codes.InvalidArgument, "'"+part+"' is not an IP address and a port; a name that "+
				"stands for several servers is written dns:///NAME:PORT")
		}
		parsed.name = "dns:///" + net.JoinHostPort(host, port)
		parsed.pickFirst = !isDNS && host != "localhost"
	}
	if parsed.addresses != nil {
		parsed.name = listScheme + ":///" + parsed.addresses[0].Addr
	}
	return parsed, nil
}
