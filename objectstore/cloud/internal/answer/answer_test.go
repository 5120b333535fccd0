package answer_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/cloud/internal/answer"
)

// TestStatus checks that temporary failures are marked, with how long to wait and whether the server is overloaded.
func TestStatus(t *testing.T) {
	head := http.Header{"Retry-After": {"7"}}
	for code, busy := range map[int]bool{408: false, 429: true, 500: false, 503: true, 504: false} {
		e, ok := errors.AsType[*objectstore.RetryableError](answer.Status(code, head, "refused"))
		if !ok || e.Busy != busy || e.After != 7*time.Second {
			t.Errorf("%d: %+v", code, e)
		}
	}
	for code, want := range map[int]error{404: fs.ErrNotExist, 412: objectstore.ErrChanged, 416: objectstore.ErrChanged} {
		if err := answer.Status(code, nil, "refused"); !errors.Is(err, want) {
			t.Errorf("%d: %v", code, err)
		}
	}
	for _, code := range []int{400, 403} {
		err := answer.Status(code, nil, "the account is disabled")
		if _, ok := errors.AsType[*objectstore.RetryableError](err); ok || strings.Contains(err.Error(), "the account is disabled") != (code == 403) {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestLost checks that broken connections may be tried again, and that no error has the URL.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		err   error
		again bool
	}{{io.ErrUnexpectedEOF, true}, {errors.New("unknown"), false}} {
		err := answer.Lost(&url.Error{Op: "Get", URL: "https://host/a?sig=hunter2", Err: c.err})
		if _, ok := errors.AsType[*objectstore.RetryableError](err); ok != c.again || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}
