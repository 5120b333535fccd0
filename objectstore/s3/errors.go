package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/larder-data/larder/objectstore"
)

// plain rewords an error of the service. It marks errors that a retry may fix.
func plain(err error) error {
	if response, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return status(response)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
		return err
	}
	if closed(err) {
		return &objectstore.RetryableError{Err: errors.New("the service closed the connection")}
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return &objectstore.RetryableError{Err: err}
	}
	return err
}

// closed reports whether the other side closed a connection before it answered.
func closed(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	text := err.Error() // the libraries have no error values for these
	for _, part := range []string{"Connection closed by foreign host", "connection reset", "server closed", "broken pipe", "http2:"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// passing are codes of errors that a retry may fix, whatever the status: an answer that
// begins before the work is done has 200, and two concurrent writes have 409.
var passing = []string{minio.InternalError, "SlowDown", "ServiceUnavailable", "RequestTimeout", "OperationAborted", "ConditionalRequestConflict"}

// status converts an error answer.
func status(response minio.ErrorResponse) error {
	code := response.StatusCode
	switch {
	case response.Code == minio.PreconditionFailed || code == http.StatusPreconditionFailed:
		return objectstore.ErrChanged
	case response.Code == minio.NoSuchBucket:
		return notThere("bucket", response)
	case code == http.StatusNotFound || response.Code == minio.NoSuchKey:
		return notThere("object", response)
	case code == http.StatusForbidden || code == http.StatusUnauthorized:
		return fmt.Errorf("the service returned %q (%d); check that AWS_ACCESS_KEY_ID, AWS_PROFILE or the role may read the object, and that it exists", response.Code, code)
	case code == http.StatusNotImplemented:
	case slices.Contains(passing, response.Code) || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return &objectstore.RetryableError{Err: fmt.Errorf("the service returned %q (%d)", response.Code, code), Busy: response.Code == "SlowDown" || code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable}
	}
	return fmt.Errorf("the service returned %q (%d): %s", response.Code, code, response.Message)
}

func notThere(what string, response minio.ErrorResponse) error {
	return fmt.Errorf("there is no such %s (%s): %w", what, response.Code, fs.ErrNotExist)
}

// changed returns the error of an object that has changed.
func changed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return objectstore.ErrChanged
	}
	return err
}
