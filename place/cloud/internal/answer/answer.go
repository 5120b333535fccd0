// Package answer says in words what services of clouds answer, without the URLs that their
// clients put into errors, which may let somebody in.
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

	"github.com/larder-data/larder/place"
)

// Status is the error of an answer with a status and headers, which may be nil. access says what
// lets somebody in.
func Status(code int, h http.Header, access string) error {
	err := fmt.Errorf("the service says %d %s", code, strings.ToLower(http.StatusText(code)))
	switch {
	case code == http.StatusPreconditionFailed, code == http.StatusRequestedRangeNotSatisfiable:
		return place.ErrChanged
	case code == http.StatusNotFound, code == http.StatusGone:
		return Missing("object or container of objects")
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("%w; see that %s may read or write the object, and that it is there", err, access)
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return &place.AgainError{Err: err, After: after(h.Get("Retry-After")),
			Busy: code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable}
	}
	return err
}

// Missing is the error of something that is not there.
func Missing(what string) error {
	return fmt.Errorf("there is no such %s: %w", what, fs.ErrNotExist)
}

// Lost is the error of a request that was not answered. What another try may cure is marked.
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
		return &place.AgainError{Err: err}
	}
	return err
}

// Changed is the error of something that was there before.
func Changed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return place.ErrChanged
	}
	return err
}

// after is for how long a service asks to wait, in seconds; 0 if it does not say so.
func after(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
