package waystar

import (
	"context"
	"io"
	"sync"

	"google.golang.org/grpc/codes"

	pb "waystar.dev/proto/waystar/v1"
)

// A PathStream answers many queries over one stream, without the cost of a call for each. It opens another stream when
// one is lost, and asks again what was not answered. It does not wait for the Client's own changes: a query for them
// needs a view.least_version. Queries that were passed to it must not change.
//
// FindPath may be called from any goroutine, and goroutines should share a PathStream.
type PathStream struct {
	client  *Client
	context context.Context

	mutex sync.Mutex
	open  *openPaths
	last  uint64
}

type openPaths struct {
	queries chan *pb.StreamFindPathRequest
	// A channel for each query without an answer, by its id.
	waiting sync.Map
	// It is done when the stream has ended, and then has the reason.
	ended context.Context
}

// StreamFindPath makes a PathStream, which ends with the context. It connects on first use.
func (c *Client) StreamFindPath(ctx context.Context) *PathStream {
	return &PathStream{client: c, context: ctx}
}

// FindPath is like the call of that name: with retries, and a deadline if the context has none.
func (p *PathStream) FindPath(ctx context.Context, query *pb.FindPathRequest) (*pb.FindPathResponse, error) {
	ctx, cancel := p.client.withTimeout(ctx)
	defer cancel()
	defer context.AfterFunc(p.context, cancel)()
	var answer *pb.FindPathResponse
	err := p.client.retry(ctx, true, func() (err error) {
		answer, err = p.ask(ctx, query)
		return err
	})
	return answer, err
}

func (p *PathStream) ask(ctx context.Context, query *pb.FindPathRequest) (*pb.FindPathResponse, error) {
	open, id := p.next()
	answered := make(chan *pb.StreamedAnswer, 1)
	open.waiting.Store(id, answered)
	defer open.waiting.Delete(id)
	request := &pb.StreamFindPathRequest{Queries: []*pb.StreamedQuery{{Id: id, Query: query}}}
	for unsent := open.queries; ; {
		select {
		case unsent <- request:
			unsent = nil
		case answer := <-answered:
			return answer.GetAnswer(), ProblemError(answer.GetProblem())
		case <-open.ended.Done():
			if p.context.Err() != nil {
				// It ends the call too, which is then not tried again.
				<-ctx.Done()
			}
			return nil, context.Cause(open.ended)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Returns a stream that has not ended, and an id for a query on it.
func (p *PathStream) next() (*openPaths, uint64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.open == nil || p.open.ended.Err() != nil {
		ended, end := context.WithCancelCause(p.context)
		open := &openPaths{queries: make(chan *pb.StreamFindPathRequest), ended: ended}
		p.open = open
		go func() { end(ToError(open.run(p.client))) }()
	}
	p.last++
	return p.open, p.last
}

// Reads answers until the stream ends, and returns why it has.
func (o *openPaths) run(client *Client) error {
	stream, err := client.Paths.StreamFindPath(o.ended)
	if err != nil {
		return err
	}
	go func() {
		// Sending waits while the server does not read.
		for {
			select {
			case request := <-o.queries:
				_ = stream.Send(request)
			case <-o.ended.Done():
				return
			}
		}
	}()
	for {
		message, err := stream.Recv()
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
