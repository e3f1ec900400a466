// Package waystar finds paths on the maps of a Waystar server, changes the maps, and follows agents that walk.
//
// A Client keeps the rules of docs/clients.md in all its calls, also in those of the generated stubs.
package waystar

import (
	"cmp"
	"context"
	"crypto/tls"
	_ "embed"
	"strings"
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
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "waystar.dev/proto/waystar/v1"
)

//go:embed service_config.json
var serviceConfig string

const (
	defaultTimeout  = 5 * time.Second
	maxReceiveBytes = 64 << 20
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
	// IgnoreOwnWrites lets queries read versions from before the Client's own changes.
	IgnoreOwnWrites bool
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
	context    context.Context
	cancel     context.CancelFunc
	timeout    time.Duration
	refusal    error
	budget     budget
	ownWrites  ownWrites
}

// New makes a Client of a server, HOST:PORT or unix:PATH, or of several servers with the same maps that take turns:
// IP:PORT,IP:PORT or dns:///NAME:PORT. It fails only if the target or the options are wrong.
func New(target string, options Options) (*Client, error) {
	parsed, err := parseTarget(target)
	if err != nil {
		return nil, err
	}
	client := &Client{timeout: cmp.Or(options.Timeout, defaultTimeout)}
	if !options.IgnoreOwnWrites {
		client.ownWrites.byMap = map[string]*pb.Version{}
	}
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

// NoteChange makes later queries of the map see a change by another client, or by a stream, as if a call of this Client
// had made it.
func (c *Client) NoteChange(mapID string, version *pb.Version) {
	c.ownWrites.note(mapID, version)
}

func (c *Client) dialOptions(target target, options Options) []grpc.DialOption {
	config := serviceConfig
	if target.pickFirst {
		config = strings.Replace(config, "round_robin", "pick_first", 1)
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
		grpc.WithDefaultServiceConfig(config),
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

var changes = map[string]bool{
	pb.MapService_CreateMap_FullMethodName:      true,
	pb.MapService_ImportMap_FullMethodName:      true,
	pb.MapService_DeleteMap_FullMethodName:      true,
	pb.MapService_UpdateMap_FullMethodName:      true,
	pb.MapService_StreamUpdates_FullMethodName:  true,
	pb.ServerService_SetLogLevel_FullMethodName: true,
}

// Makes a call with one answer.
func (c *Client) call(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	may := reads
	if changes[method] {
		if c.refusal != nil {
			return c.refusal
		}
		may = never
		if identified, ok := request.(interface{ GetRequestId() string }); ok && identified.GetRequestId() != "" {
			may = repeats
		}
	}
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	if update, ok := request.(*pb.UpdateMapRequest); ok && update.RequestId != "" && update.RequestTime == nil {
		update = shallowCopy(update)
		update.RequestTime = timestamppb.Now()
		request = update
	}
	attempt := func(request any) error {
		return c.retry(ctx, c.context, may, func() error { return invoke(ctx, method, request, reply, connection, options...) })
	}
	query, ok := request.(viewed)
	if !ok || query.GetView().GetLeastVersion() != nil {
		return c.noted(request, reply, attempt(request))
	}
	least := c.ownWrites.of(query.GetMap())
	if least == nil {
		return attempt(request)
	}
	err := attempt(withLeastVersion(query, least))
	if ReasonOf(err) == "MAP_REPLACED" {
		c.ownWrites.forget(query.GetMap(), least.Epoch)
		err = attempt(request)
	}
	return err
}

// Remembers the version that a change has made.
func (c *Client) noted(request, reply any, err error) error {
	if err != nil {
		return err
	}
	switch reply := reply.(type) {
	case *pb.UpdateMapResponse:
		c.NoteChange(request.(*pb.UpdateMapRequest).Map, reply.Version)
	case *pb.CreateMapResponse:
		c.NoteChange(reply.Info.GetMap(), reply.Info.GetVersion())
	case *pb.DeleteMapResponse:
		c.ownWrites.forget(request.(*pb.DeleteMapRequest).Map, reply.GetVersion().GetEpoch())
	}
	return nil
}

// A query whose answer is true for a version.
type viewed interface {
	proto.Message
	GetMap() string
	GetView() *pb.View
}

func withLeastVersion(query viewed, least *pb.Version) proto.Message {
	view := shallowCopy(query.GetView())
	view.LeastVersion = least
	seeing := shallowCopy[proto.Message](query).ProtoReflect()
	seeing.Set(seeing.Descriptor().Fields().ByName("view"), protoreflect.ValueOfMessage(view.ProtoReflect()))
	return seeing.Interface()
}

func shallowCopy[M proto.Message](message M) M {
	from := message.ProtoReflect()
	to := from.New()
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		to.Set(field, value)
		return true
	})
	return to.Interface().(M)
}

func (c *Client) openStream(ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn,
	method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	if changes[method] && c.refusal != nil {
		return nil, c.refusal
	}
	return open(ctx, description, connection, method, options...)
}

func (c *Client) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.timeout)
}

// Returns a context that ends with the Client too.
func (c *Client) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.context, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
