package objectstore_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-data/larder/objectstore"
)

// TestSlowDrip checks that data that arrives byte by byte is given up, after as many tries as data that does not arrive.
func TestSlowDrip(t *testing.T) {
	objectstore.Hurry(t, 10*time.Second)
	objectstore.Slow(t, time.Nanosecond)
	var requests atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var first, last int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/100000", first, last))
		w.WriteHeader(http.StatusPartialContent)
		nth := requests.Add(1)
		for range last - first + 1 {
			if _, err := w.Write([]byte{0}); err != nil || first == last {
				return
			}
			w.(http.Flusher).Flush()
			if nth > 1 { // and no more of it
				<-r.Context().Done()
				return
			}
		}
	}))
	defer s.Close()
	f := open(t, s.URL+"/a")
	if b, err := read(t, f, 0, 100_000); err == nil || !strings.Contains(err.Error(), "less than 1 KiB") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	s.Close()
	if n := requests.Load(); n != 1+objectstore.Tries {
		t.Errorf("%d requests", n)
	}
}
