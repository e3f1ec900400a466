// Package waystar finds paths on the maps of a Waystar server, changes the maps, and follows agents that walk.
//
// A Client keeps the rules of docs/clients.md in all its calls, also in those of the generated stubs.
package waystar

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/credentials/local"
	_ "google.golang.org/grpc/health" // It asks the servers for their health.
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/protobuf/proto"

	pb "waystar.dev/proto/waystar/v1"
)

const (
	defaultTimeout  = 5 * time.Second
	maxReceiveBytes = 64 << 20
	ownMaps         = 1024
	// Its retries are those of Client.retry.
	serviceConfig = `{"loadBalancingConfig": [{"%s": {}}],
		"healthCheckConfig": {"serviceName": "waystar.v1.PathService"}}`
)

// A server that restarts is back in a second or two.
var reconnects = grpc.ConnectParams{MinConnectTimeout: 5 * time.Second, Backoff: backoff.Config{
	BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}}

// The server accepts a ping each 10 s.
var pings = keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 20 * time.Second}

// Options of a Client, of which all may be unset.
type Options struct {
	// Timeout is how long a call with one answer may take in all if its context has no deadline: 5 s if unset.
	Timeout time.Duration
	// TLS encrypts the connection. With a list of addresses it has the ServerName of their certificates.
	TLS *tls.Config
	// Token is sent with each call. Without TLS calls fail unless the server is on this machine.
	Token string
	// Fleet says that the servers of the target are one fleet, so that a change at any of them reaches all. Without it
	// a Client of several servers refuses changes.
	Fleet bool
	// DialOptions are further options of gRPC, such as grpc.WithDefaultCallOptions(grpc.WaitForReady(true)).
	DialOptions []grpc.DialOption
}

// A Client is a connection to one or several servers, which is made on first use and again whenever it breaks. The
// stubs are for all that has no method here. Calls of the stubs have the same deadlines, retries and errors as those
// of the methods.
//
// Calls that only read are retried when a server cannot be reached or is too busy, and so are changes with a
// request_id, which Map.Update sets. Queries see the Client's own changes: they get the view.least_version of its last
// change of the map, unless they have one.
//
// All methods may be called from any goroutine.
type Client struct {
	Paths    pb.PathServiceClient
	Maps     pb.MapServiceClient
	Pictures pb.PictureServiceClient
	Server   pb.ServerServiceClient

	connection *grpc.ClientConn
	timeout    time.Duration
	refusal    error
	// It ends with the Client.
	context context.Context
	cancel  context.CancelFunc

	mutex sync.Mutex
	// The part of the budget for retries that failures have taken.
	spent int
	// The versions that changes have led maps to, of ownMaps maps at most.
	ownWrites map[string]*pb.Version
}

// New makes a Client of a server, HOST:PORT or unix:PATH, or of several servers with the same maps that take turns:
// IP:PORT,IP:PORT or dns:///NAME:PORT. It fails only if the target or the options are wrong.
func New(target string, options Options) (*Client, error) {
	parsed, err := parseTarget(target)
	if err != nil {
		return nil, err
	}
	client := &Client{timeout: cmp.Or(options.Timeout, defaultTimeout), ownWrites: map[string]*pb.Version{}}
	if parsed.several && !options.Fleet {
		client.refusal = newError(codes.FailedPrecondition, target+" may be several servers, and a change would reach "+
			"one of them alone: make it at each of them by its own address, or set Options.Fleet")
	}
	client.connection, err = grpc.NewClient(parsed.name, client.dialOptions(parsed, options)...)
	if err != nil {
		return nil, newError(codes.InvalidArgument, err.Error())
	}
	client.context, client.cancel = context.WithCancel(context.Background())
	client.Paths = pb.NewPathServiceClient(client.connection)
	client.Maps = pb.NewMapServiceClient(client.connection)
	client.Pictures = pb.NewPictureServiceClient(client.connection)
	client.Server = pb.NewServerServiceClient(client.connection)
	return client, nil
}

// Close ends all calls and streams.
func (c *Client) Close() error {
	c.cancel()
	return c.connection.Close()
}

func (c *Client) dialOptions(target target, options Options) []grpc.DialOption {
	balancer := "round_robin"
	if target.pickFirst {
		balancer = "pick_first"
	}
	transport := insecure.NewCredentials()
	if options.TLS != nil {
		transport = credentials.NewTLS(options.TLS)
	} else if options.Token != "" {
		// They refuse to connect to another machine.
		transport = local.NewCredentials()
	}
	dialOptions := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDisableRetry(),
		grpc.WithDefaultServiceConfig(fmt.Sprintf(serviceConfig, balancer)),
		grpc.WithConnectParams(reconnects),
		grpc.WithKeepaliveParams(pings),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceiveBytes)),
		grpc.WithChainUnaryInterceptor(c.call),
		grpc.WithChainStreamInterceptor(c.openStream),
	}
	if options.Token != "" {
		dialOptions = append(dialOptions, grpc.WithPerRPCCredentials(bearer(options.Token)))
	}
	if target.addresses != nil {
		list := manual.NewBuilderWithScheme(listScheme)
		list.InitialState(resolver.State{Addresses: target.addresses})
		dialOptions = append(dialOptions, grpc.WithResolvers(list))
	}
	return append(dialOptions, options.DialOptions...)
}

type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// The transport credentials refuse what must not be sent unencrypted.
func (bearer) RequireTransportSecurity() bool { return false }

var changes = []string{pb.MapService_CreateMap_FullMethodName, pb.MapService_ImportMap_FullMethodName,
	pb.MapService_DeleteMap_FullMethodName, pb.MapService_UpdateMap_FullMethodName,
	pb.MapService_StreamUpdates_FullMethodName, pb.ServerService_SetLogLevel_FullMethodName}

// Makes a call with one answer.
func (c *Client) call(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	isChange := slices.Contains(changes, method)
	if isChange && c.refusal != nil {
		return c.refusal
	}
	identified, ok := request.(interface{ GetRequestId() string })
	mayRepeat := !isChange || ok && identified.GetRequestId() != ""
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	attempt := func(request any) error {
		return c.retry(ctx, mayRepeat, func() error {
			return invoke(ctx, method, request, reply, connection, options...)
		})
	}
	if query, ok := request.(viewed); ok && query.GetView().GetLeastVersion() == nil {
		if least := c.ownWrite(query.GetMap()); least != nil {
			err := attempt(withLeastVersion(query, least))
			if ReasonOf(err) != "MAP_REPLACED" {
				return err
			}
			c.forgetWrite(query.GetMap(), least)
		}
	}
	err := attempt(request)
	if err == nil {
		c.noteReply(request, reply)
	}
	return err
}

func (c *Client) openStream(ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn,
	method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	if c.refusal != nil && slices.Contains(changes, method) {
		return nil, c.refusal
	}
	return open(ctx, description, connection, method, options...)
}

// NoteChange makes later queries of the map see a change by another client, or by a stream, as if a call of this Client
// had made it.
func (c *Client) NoteChange(mapID string, version *pb.Version) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	known := c.ownWrites[mapID]
	if known.GetEpoch() == version.GetEpoch() && known.GetRevision() >= version.GetRevision() {
		return
	}
	for other := range c.ownWrites {
		if known != nil || len(c.ownWrites) < ownMaps {
			break
		}
		delete(c.ownWrites, other)
	}
	c.ownWrites[mapID] = version
}

func (c *Client) noteReply(request, reply any) {
	switch reply := reply.(type) {
	case *pb.UpdateMapResponse:
		c.NoteChange(request.(*pb.UpdateMapRequest).Map, reply.Version)
	case *pb.CreateMapResponse:
		c.NoteChange(reply.Info.GetMap(), reply.Info.GetVersion())
	}
}

func (c *Client) ownWrite(mapID string) *pb.Version {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.ownWrites[mapID]
}

// Forgets a version of a map that was replaced, unless there is one of another epoch since.
func (c *Client) forgetWrite(mapID string, version *pb.Version) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.ownWrites[mapID].GetEpoch() == version.Epoch {
		delete(c.ownWrites, mapID)
	}
}

// A query whose answer is true for a version.
type viewed interface {
	proto.Message
	GetMap() string
	GetView() *pb.View
}

func withLeastVersion(query viewed, least *pb.Version) proto.Message {
	seeing := proto.CloneOf[proto.Message](query)
	fields := seeing.ProtoReflect()
	view := fields.Mutable(fields.Descriptor().Fields().ByName("view")).Message().Interface().(*pb.View)
	view.LeastVersion = least
	return seeing
}

// Returns a context that has a deadline and can be cancelled.
func (c *Client) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.timeout)
}
