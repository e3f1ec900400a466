package waystar

import (
	"cmp"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// An Error says why a call failed. All errors of this package are of this type, and those of the stubs' calls with one
// answer. ToError makes one of a stub's stream.
type Error struct {
	Code    codes.Code
	Message string
	// Reason is the name of a pb.ErrorReason, such as MAP_NOT_FOUND. It is empty if the error is not the server's own.
	Reason string
	// Field is the path of the field to blame, such as "goals[0]", if there is one.
	Field string
	// RetryDelay is set if the error is temporary and the server says when to retry.
	RetryDelay time.Duration

	status *status.Status
	// The budget for retries has this failure. It may be that of several calls on one stream.
	isCounted bool
}

// ReasonOf returns the reason of an Error, and "" of any other error.
func ReasonOf(err error) string {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Reason
	}
	return ""
}

// ProblemError makes an error of a problem in an answer, such as one of FindPaths, and nil of none.
func ProblemError(problem *rpc.Status) error { return ToError(status.ErrorProto(problem)) }

func (e *Error) Error() string {
	text := cmp.Or(e.Reason, e.Code.String())
	if e.Field != "" {
		text += " (" + e.Field + ")"
	}
	return text + ": " + e.Message
}

// GRPCStatus lets the status package of gRPC read the error.
func (e *Error) GRPCStatus() *status.Status { return e.status }

// ToError makes an *Error of an error of gRPC or of a context, and nil of nil.
func ToError(err error) error {
	if _, ok := err.(*Error); ok || err == nil {
		return err
	}
	from, ok := status.FromError(err)
	if !ok {
		from = status.FromContextError(err)
	}
	failure := &Error{Code: from.Code(), Message: from.Message(), status: from}
	for _, detail := range from.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.Domain == "waystar" {
				failure.Reason = detail.Reason
				failure.Field = detail.Metadata["field"]
			}
		case *errdetails.RetryInfo:
			failure.RetryDelay = detail.RetryDelay.AsDuration()
		}
	}
	return failure
}

func newError(code codes.Code, message string) error { return ToError(status.Error(code, message)) }
