package waystar

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// The codes of errors that another stream would have too.
var permanent = []codes.Code{codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied,
	codes.Unimplemented, codes.FailedPrecondition, codes.NotFound, codes.OutOfRange}

// The delays between the attempts of a call, unless the server asks for another.
var backoffs = []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 450 * time.Millisecond}

// Retries end while most calls fail: they go on only while at most half of the budget is spent. A failure takes one
// part in a hundred of it, and a success gives back a tenth of that.
const (
	fullBudget  = 1_000
	failureCost = 10
	successGain = 1
)

func (c *Client) noteSuccess() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.spent = max(c.spent-successGain, 0)
}

// Reports whether a retry may follow.
func (c *Client) noteFailure(failure *Error) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !failure.isCounted {
		failure.isCounted = true
		c.spent = min(c.spent+failureCost, fullBudget)
	}
	return c.spent <= fullBudget/2
}

// Makes a call until it succeeds, fails for good, was made four times, has used up the budget, or the context or the
// Client would end before the next attempt. A call that may not repeat is retried only if the server has not started it.
func (c *Client) retry(ctx context.Context, mayRepeat bool, call func() error) error {
	for attempt := 0; ; attempt++ {
		err := ToError(call())
		if err == nil {
			c.noteSuccess()
			return nil
		}
		failure := err.(*Error)
		if ctx.Err() != nil || !isTemporary(failure, mayRepeat) || !c.noteFailure(failure) || attempt == len(backoffs) {
			return err
		}
		delay := cmp.Or(failure.RetryDelay*time.Duration(attempt+1), backoffs[attempt])
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= delay || !c.sleep(ctx, delay) {
			return err
		}
	}
}

func isTemporary(err *Error, mayRepeat bool) bool {
	isBusy := err.Code == codes.ResourceExhausted && err.RetryDelay > 0
	// A server or a proxy that closes its connections may end the calls on them so, in place of Unavailable.
	isClosed := err.Reason == "" && (err.Code == codes.Canceled ||
		err.Code == codes.Internal && strings.Contains(err.Message, "RST_STREAM"))
	return isBusy || mayRepeat && (isClosed || err.Code == codes.Unavailable)
}

// Sleeps up to half as long again, so that many clients do not come at once. Returns false if the context or the
// Client ends before.
func (c *Client) sleep(ctx context.Context, duration time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-c.context.Done():
		return false
	case <-time.After(duration + rand.N(duration/2+1)):
		return true
	}
}

// The pause before a stream is opened again is longer each time, until there is a message.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

type receiver[Message any] interface{ Recv() (*Message, error) }

// Opens one stream after the other and takes their messages, until take returns false, another stream would fail in the
// same way, or the context or the Client ends. Returns why.
func takeAll[Message any](ctx context.Context, client *Client, open func() (receiver[Message], error),
	take func(*Message) bool) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		hasMessages := false
		stream, err := open()
		for err == nil {
			var message *Message
			if message, err = stream.Recv(); err == nil {
				if !take(message) {
					return nil
				}
				hasMessages, pause = true, firstPause
			}
		}
		failure := ToError(err).(*Error)
		if hasMessages && failure.Code == codes.NotFound {
			// The map may have been replaced: the next stream tells.
			continue
		}
		if slices.Contains(permanent, failure.Code) || !client.sleep(ctx, max(pause, failure.RetryDelay)) {
			return ToError(cmp.Or(ctx.Err(), client.context.Err(), err))
		}
	}
}
