package blockcache_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/place"
	"github.com/larder-data/larder/place/placetest"
)

// TestUncertain: a file that is replaced at each request by another one of the same version, as
// servers say it who count seconds, is read as one content by all, with one request; also where
// the answer breaks off.
func TestUncertain(t *testing.T) {
	s := placetest.Serve(t)
	now := time.Now()
	of := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + n)}, 300_000) }
	url := s.PutAs("a", of(0), `"1-2"`, now)
	f := keep(t, url, engine(t, t.TempDir()))
	s.Fail(func(n int, _ *http.Request) placetest.Fault {
		s.PutAs("a", of(n), `"1-2"`, now)
		if n == 1 {
			return placetest.Fault{Cut: 70_000}
		}
		return placetest.Fault{}
	})
	got := make([]byte, 300_000)
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			if err := f.ReadAt(t.Context(), got[i*10_000:][:10_000], int64(i)*10_000); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	stream := f.Stream(t.Context())
	first := make([]byte, 10)
	if _, err := stream.ReadAt(first, 0); err != nil || stream.Close() != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, of(int(got[0]-'a'))) || first[0] != got[0] {
		t.Error("a mixture of versions was read")
	}
	if r := ranges(s); len(r) > 3 { // one that looked, one that broke off, one that came
		t.Errorf("asked for %v", r)
	}
}

// TestUncertainAndLarge: of a file that is too large for a copy, an error says what to do.
func TestUncertainAndLarge(t *testing.T) {
	blockcache.CopyAtMost(t, 6)
	s := placetest.Serve(t)
	f, err := place.Open(t.Context(), s.PutAs("a", []byte("content"), "", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blockcache.Keep(f, nil); err == nil || !strings.Contains(err.Error(), "run again in two seconds") {
		t.Errorf("%v", err)
	}
}
