// Package answer provides errors for the answers of cloud services, without the URLs in
// their clients' errors, which may contain credentials.
package answer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/larder-data/larder/objectstore"
)

// Status returns the error of an answer with a status and headers, which may be nil. access
// names the credentials.
func Status(code int, h http.Header, access string) error {
	err := fmt.Errorf("the service returned %d %s", code, strings.ToLower(http.StatusText(code)))
	switch {
	case code == http.StatusPreconditionFailed, code == http.StatusRequestedRangeNotSatisfiable:
		return objectstore.ErrChanged
	case code == http.StatusNotFound, code == http.StatusGone:
		return Missing("object or container of objects")
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("%w; see that %s may read or write the object, and that it is there", err, access)
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return &objectstore.RetryableError{Err: err, After: after(h.Get("Retry-After")),
			Busy: code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable}
	}
	return err
}

// Missing returns the error of a missing object.
func Missing(what string) error {
	return fmt.Errorf("there is no such %s: %w", what, fs.ErrNotExist)
}

// Lost returns the error of a request that was not answered. It marks errors that a retry
// may fix.
func Lost(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
		return err
	}
	_, broken := errors.AsType[net.Error](err)
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		broken = broken || errors.Is(err, e)
	}
	if broken {
		return &objectstore.RetryableError{Err: err}
	}
	return err
}

// Changed returns the error of an object that has changed.
func Changed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return objectstore.ErrChanged
	}
	return err
}

// after parses how long a service asks to wait, in seconds; 0 if it does not say.
func after(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
