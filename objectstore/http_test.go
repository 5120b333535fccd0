package objectstore_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/objectstore"
	_ "github.com/larder-data/larder/objectstore/http"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// content returns n bytes in which no two positions look alike.
func content(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

// read reads a part of a file.
func read(t *testing.T, f *objectstore.File, at, n int64) ([]byte, error) {
	t.Helper()
	r, err := f.Reader(t.Context(), at, n)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func open(t *testing.T, url string) *objectstore.File {
	t.Helper()
	f, err := objectstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFaults checks that temporary faults never change the data read, and that permanent ones give an error.
func TestFaults(t *testing.T) {
	want := content(300_000)
	objectstore.Hurry(t, 100*time.Millisecond)
	for name, fault := range map[string]objectstoretest.Fault{
		"status 500": {Status: 500}, "status 503": {Status: 503}, "status 429": {Status: 429, After: "1"}, "status 408": {Status: 408},
		"cut": {Cut: 70_000}, "cut immediately": {Cut: 1}, "stall": {Cut: 1000, Stall: true}, "slow": {Latency: 5 * time.Second},
		"another range": {Range: "bytes 1-5/300000"}, "a longer range": {Range: "bytes 0-299999/300000"},
	} {
		t.Run(name, func(t *testing.T) {
			s := objectstoretest.Serve(t)
			f := open(t, s.Put("a", want))
			s.Requests()
			var traffic objectstore.Traffic
			s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
				if n%2 == 0 {
					return fault
				}
				return objectstoretest.Fault{}
			})
			r, err := f.Reader(objectstore.Count(t.Context(), &traffic), 1000, 250_000)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, want[1000:251_000]) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			if n := traffic.Requests.Load(); n < 2 || n != int64(len(s.Requests())) || traffic.Bytes.Load() != 250_000 || traffic.Retries.Load() != n-1 {
				t.Errorf("%d requests, %d bytes, %d retries", n, traffic.Bytes.Load(), traffic.Retries.Load())
			}
			if fault.Cut == 70_000 {
				return // which ends
			}
			s.Fail(func(int, *http.Request) objectstoretest.Fault { return fault })
			if got, err := read(t, f, 1000, 250_000); err == nil || !bytes.HasPrefix(want[1000:], got) {
				t.Errorf("%d bytes, %v", len(got), err)
			} else if n := len(s.Requests()); fault.Cut != 1 && n != objectstore.Tries {
				t.Errorf("%d requests: %v", n, err)
			}
		})
	}
}

// TestRandomFaults checks that all data is right if one request of a hundred fails and one of ten breaks off.
func TestRandomFaults(t *testing.T) {
	want := content(1 << 20)
	objectstore.Hurry(t, time.Second)
	random := testrand.New(t)
	s := objectstoretest.Serve(t)
	f := open(t, s.Put("a", want))
	s.Fail(func(int, *http.Request) objectstoretest.Fault {
		switch n := random.IntN(100); {
		case n == 0:
			return objectstoretest.Fault{Status: 500}
		case n < 10:
			return objectstoretest.Fault{Cut: 1 + random.Int64N(50_000)}
		}
		return objectstoretest.Fault{}
	})
	for range 200 {
		at := random.Int64N(int64(len(want)))
		n := random.Int64N(min(int64(len(want))-at, 100_000) + 1)
		if got, err := read(t, f, at, n); err != nil || !bytes.Equal(got, want[at:at+n]) {
			t.Fatalf("%d bytes at %d: %v", n, at, err)
		}
	}
}

// TestVersions checks that reads return the version that existed when the file was opened.
func TestVersions(t *testing.T) {
	objectstore.Hurry(t, time.Second)
	s := objectstoretest.Serve(t)
	for name, c := range map[string]struct {
		tag      string
		modified time.Time
		firm     bool
	}{
		"strong":        {`"1"`, objectstoretest.Old, true},
		"strong alone":  {`"1"`, time.Time{}, true},
		"weak":          {`W/"1"`, objectstoretest.Old, true},
		"time":          {"", objectstoretest.Old, true},
		"just now":      {"", time.Now(), false},
		"both just now": {`"1"`, time.Now(), false},
	} {
		f := open(t, s.PutAs("a", []byte("content"), c.tag, c.modified))
		if f.Firm != c.firm || f.Size != 7 || f.Whole {
			t.Errorf("%s: %+v", name, f.Version)
		}
		if b, err := read(t, f, 3, 4); err != nil || string(b) != "tent" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		tag := c.tag
		if strings.HasPrefix(tag, `"`) {
			tag = `"2"`
		}
		s.PutAs("a", []byte("another"), tag, objectstoretest.Old.Add(time.Hour))
		if b, err := read(t, f, 3, 4); !errors.Is(err, objectstore.ErrChanged) {
			t.Errorf("%s changed: %q, %v", name, b, err)
		}
	}
	f := open(t, s.Put("b", []byte("content")))
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Tag: `"2"`} }) // also for a server without If-Match
	if b, err := read(t, f, 3, 4); !errors.Is(err, objectstore.ErrChanged) {
		t.Errorf("%q, %v", b, err)
	}
	s.Fail(nil)
	for _, tag := range []string{"", `W/"1"`} {
		if _, err := objectstore.Open(t.Context(), s.PutAs("c", []byte("content"), tag, time.Time{})); err == nil || !strings.Contains(err.Error(), "no strong ETag or Last-Modified") {
			t.Errorf("%q: %v", tag, err)
		}
	}
	if _, err := objectstore.Open(t.Context(), s.URL+"/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	empty := open(t, s.Put("empty", nil))
	if b, err := read(t, empty, 0, 0); err != nil || len(b) != 0 || empty.Size != 0 {
		t.Errorf("%q, %v, %+v", b, err, empty.Version)
	}
}

// TestCutWhileChanging checks that a file that changes during a read never gives a mixture of two versions.
func TestCutWhileChanging(t *testing.T) {
	objectstore.Hurry(t, time.Second)
	s := objectstoretest.Serve(t)
	f := open(t, s.Put("a", bytes.Repeat([]byte("old"), 50_000)))
	s.Requests()
	s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
		if n == 0 {
			return objectstoretest.Fault{Cut: 60_000}
		}
		s.Put("a", bytes.Repeat([]byte("new"), 50_000))
		return objectstoretest.Fault{}
	})
	if b, err := read(t, f, 0, 150_000); !errors.Is(err, objectstore.ErrChanged) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestServersWithoutRanges checks that a small file is read as a whole, and a large one refused.
func TestServersWithoutRanges(t *testing.T) {
	s := objectstoretest.Serve(t)
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Whole: true} })
	want := content(100_000)
	f := open(t, s.Put("a", want))
	if b, err := read(t, f, 70_000, 10_000); err != nil || !bytes.Equal(b, want[70_000:80_000]) || !f.Whole {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	s.Sent()
	if _, err := objectstore.Open(t.Context(), s.Put("b", make([]byte, 65<<20))); err == nil || !strings.Contains(err.Error(), "Range") {
		t.Errorf("%v", err)
	}
}

// TestRetryAfter checks that a retry waits as long as the server says, within a limit, or else for a random time.
func TestRetryAfter(t *testing.T) {
	waits := objectstore.Hurry(t, time.Second)
	s := objectstoretest.Serve(t)
	url := s.Put("a", []byte("content"))
	for after, want := range map[string]time.Duration{"7": 7 * time.Second, "1000000": objectstore.MostWait, "": 0, "soon": 0} {
		s.Requests()
		s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
			if n < 3 {
				return objectstoretest.Fault{Status: 503, After: after}
			}
			return objectstoretest.Fault{}
		})
		open(t, url)
		got := waits()
		if len(got) != 3 {
			t.Fatalf("%q: %v", after, got)
		}
		for _, d := range got {
			if want != 0 && d != want || want == 0 && (d <= 0 || d > time.Second) {
				t.Errorf("%q: waited for %v", after, d)
			}
		}
	}
}

// TestEncoded checks that compressed transfers have no ranges.
func TestEncoded(t *testing.T) {
	s := objectstoretest.Serve(t)
	s.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Encoding: "gzip"} })
	if _, err := objectstore.Open(t.Context(), s.Put("a", []byte("content"))); err == nil || !strings.Contains(err.Error(), "gzip") {
		t.Errorf("%v", err)
	}
}
