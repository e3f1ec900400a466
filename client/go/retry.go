package waystar

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
)

// The delays between the attempts of a call, unless the server asks for another.
var backoffs = []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 450 * time.Millisecond}

// A repeatable says after which failures a call may be retried. All are retried when the server was too busy to start
// them.
type repeatable int

const (
	never repeatable = iota
	// The call only reads. The service config retries it after Unavailable.
	reads
	// The call may be repeated, and nothing else retries it.
	repeats
)

func (r repeatable) after(err *Error) bool {
	switch err.Code {
	case codes.ResourceExhausted:
		return err.RetryDelay > 0
	case codes.Unavailable:
		return r == repeats
	case codes.Canceled, codes.Internal:
		// A server or a proxy that closes its connections may end the calls on them so, in place of Unavailable.
		isClosed := err.Code == codes.Canceled || strings.Contains(err.Message, "RST_STREAM") ||
			strings.Contains(err.Message, "Session closed")
		return r != never && err.Reason == "" && isClosed
	default:
		return false
	}
}

// A budget ends retries while most calls fail: they go on only while at most half of it is spent. A failure takes one
// part in a hundred of it, and a success gives back a tenth of that, as in the service config.
type budget struct {
	spent atomic.Int32
}

const (
	fullBudget  = 1_000
	failureCost = 10
	successCost = -1
)

// Returns what is spent then.
func (b *budget) spend(cost int32) int32 {
	for {
		before := b.spent.Load()
		after := min(max(before+cost, 0), fullBudget)
		if before == after || b.spent.CompareAndSwap(before, after) {
			return after
		}
	}
}

// Makes a call until it succeeds, fails for good, was made four times, has used up the budget, or the context would
// end before the next attempt. It also fails for good once its owner, the Client or a stream, has ended.
func (c *Client) retry(ctx, owner context.Context, may repeatable, call func() error) error {
	for attempt := 0; ; attempt++ {
		err := ToError(call())
		if err == nil {
			c.budget.spend(successCost)
			return nil
		}
		failure := err.(*Error)
		if ctx.Err() != nil || c.context.Err() != nil || owner.Err() != nil || !may.after(failure) {
			return err
		}
		if c.budget.spend(failureCost) > fullBudget/2 || attempt == len(backoffs) {
			return err
		}
		delay := backoffs[attempt]
		if failure.RetryDelay > 0 {
			delay = failure.RetryDelay * time.Duration(attempt+1)
		}
		if !sleep(ctx, delay) {
			return err
		}
	}
}

// Sleeps up to half as long again, so that many clients do not come at once. Returns false if the context ends before,
// and at once if it is known to.
func sleep(ctx context.Context, duration time.Duration) bool {
	duration += rand.N(duration/2 + 1)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= duration {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(duration):
		return true
	}
}

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// A pause before a stream is opened again is longer each time, until it is set to 0.
type pause time.Duration

// Returns false if another stream would fail in the same way, or the context ends.
func (p *pause) mayReopen(ctx context.Context, err error) bool {
	*p = min(max(2**p, pause(firstPause)), pause(lastPause))
	failure := ToError(err).(*Error)
	return !isPermanent(failure) && sleep(ctx, max(time.Duration(*p), failure.RetryDelay))
}
