package blockcache_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// TestUncertain replaces a file at each request under the same version, as servers do whose
// versions count seconds. All readers get one content from one request, also after an
// answer that breaks off.
func TestUncertain(t *testing.T) {
	s := objectstoretest.Serve(t)
	now := time.Now()
	of := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + n)}, 300_000) }
	url := s.PutAs("a", of(0), `"1-2"`, now)
	f := keep(t, url, engine(t, t.TempDir()))
	s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
		s.PutAs("a", of(n), `"1-2"`, now)
		if n == 1 {
			return objectstoretest.Fault{Cut: 70_000}
		}
		return objectstoretest.Fault{}
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
	if r := ranges(s); len(r) > 3 { // one looked, one broke off, one succeeded
		t.Errorf("requested %v", r)
	}
}

// TestUncertainAndLarge checks that the error for a file too large to copy has a fix.
func TestUncertainAndLarge(t *testing.T) {
	blockcache.CopyAtMost(t, 6)
	s := objectstoretest.Serve(t)
	f, err := objectstore.Open(t.Context(), s.PutAs("a", []byte("content"), "", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blockcache.Keep(f, nil); err == nil || !strings.Contains(err.Error(), "run again in two seconds") {
		t.Errorf("%v", err)
	}
}
