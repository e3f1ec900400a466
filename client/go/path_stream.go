package waystar

import (
	"context"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	pb "waystar.dev/proto/waystar/v1"
)

// A PathStream answers many queries over one stream, without the cost of a call for each. It opens another stream when
// one is lost, and asks again what was not answered. It does not wait for the Client's own changes: a query for them
// needs a view.least_version.
//
// FindPath may be called from any goroutine, and goroutines should share a PathStream.
type PathStream struct {
	client  *Client
	context context.Context
	// Its one value belongs to the goroutine that opens a stream or sends.
	opened chan *openPaths
	last   uint64
}

type openPaths struct {
	stream grpc.BidiStreamingClient[pb.StreamFindPathRequest, pb.StreamFindPathResponse]
	// A channel for each query without an answer, by its id.
	waiting sync.Map
	// It is done when the stream has ended, and then has the reason.
	ended context.Context
}

// StreamFindPath makes a PathStream, which ends with the context. It connects on first use.
func (c *Client) StreamFindPath(ctx context.Context) *PathStream {
	paths := &PathStream{client: c, context: ctx, opened: make(chan *openPaths, 1)}
	paths.opened <- nil
	return paths
}

// FindPath is like the call of that name: with retries, and a deadline if the context has none.
func (p *PathStream) FindPath(ctx context.Context, query *pb.FindPathRequest) (*pb.FindPathResponse, error) {
	ctx, cancel := p.client.withTimeout(ctx)
	defer cancel()
	var answer *pb.FindPathResponse
	err := p.client.retry(ctx, p.context, repeats, func() (err error) {
		answer, err = p.ask(ctx, query)
		return err
	})
	return answer, err
}

func (p *PathStream) ask(ctx context.Context, query *pb.FindPathRequest) (*pb.FindPathResponse, error) {
	var open *openPaths
	select {
	case open = <-p.opened:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if open == nil || open.ended.Err() != nil {
		var err error
		if open, err = p.open(); err != nil {
			p.opened <- nil
			return nil, err
		}
	}
	p.last++
	id := p.last
	answered := make(chan *pb.StreamedAnswer, 1)
	open.waiting.Store(id, answered)
	defer open.waiting.Delete(id)
	// If it cannot be sent, the stream ends.
	_ = open.stream.Send(&pb.StreamFindPathRequest{Queries: []*pb.StreamedQuery{{Id: id, Query: query}}})
	p.opened <- open
	select {
	case answer := <-answered:
		return answer.GetAnswer(), ProblemError(answer.GetProblem())
	case <-open.ended.Done():
		return nil, context.Cause(open.ended)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *PathStream) open() (*openPaths, error) {
	stream, err := p.client.Paths.StreamFindPath(p.context)
	if err != nil {
		return nil, err
	}
	ended, end := context.WithCancelCause(context.Background())
	open := &openPaths{stream: stream, ended: ended}
	go func() { end(open.read()) }()
	return open, nil
}

// Reads answers until the stream ends, and returns why it has.
func (o *openPaths) read() error {
	for {
		message, err := o.stream.Recv()
		if err == io.EOF {
			return newError(codes.Unavailable, "the server has ended the stream")
		}
		if err != nil {
			return err
		}
		for _, answer := range message.Answers {
			if answered, ok := o.waiting.LoadAndDelete(answer.Id); ok {
				answered.(chan *pb.StreamedAnswer) <- answer
			}
		}
	}
}
