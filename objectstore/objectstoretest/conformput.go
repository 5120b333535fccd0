package objectstoretest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/larder-data/larder/objectstore"
)

// ConformPut tests that a writing driver does what package objectstore expects: a file appears
// atomically, whatever fails once, and files that others wrote in the meantime stay.
func ConformPut(t *testing.T, s Service) {
	t.Run("contents", s.contents)
	t.Run("put faults", s.putFaults)
	t.Run("conditions", s.conditions)
	t.Run("delete", s.delete)
	t.Run("put errors", s.putErrors)
	t.Run("parts", s.parts)
}

// large exceeds the size of one request, for services with parts.
const large = 70 << 20

// Content returns b as a parameter of objectstore.Put.
func Content(b []byte) objectstore.Content {
	sum := sha256.Sum256(b)
	return objectstore.Content{Body: bytes.NewReader(b), Size: int64(len(b)), Sum: hex.EncodeToString(sum[:])}
}

// at returns the URL of a missing file.
func (s Service) at(t *testing.T, name string) string {
	other := s.Store(t, "other", []byte("content"))
	return strings.TrimSuffix(other, "other") + name
}

// lies reads the file at a URL.
func lies(t *testing.T, url string) []byte {
	t.Helper()
	f := open(t, url)
	b, err := read(t.Context(), f, 0, f.Size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func stat(t *testing.T, url string) *objectstore.Version {
	t.Helper()
	v, err := objectstore.Stat(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (s Service) contents(t *testing.T) {
	for i, b := range [][]byte{nil, content(1), content(300_000)} {
		url := s.at(t, fmt.Sprintf("put%d%%20%%C3%%A4%%25.tar", i))
		if v := stat(t, url); v != nil {
			t.Fatalf("there is %+v", v)
		}
		if err := objectstore.Put(t.Context(), url, Content(b), nil); err != nil {
			t.Fatal(err)
		}
		v := stat(t, url)
		if !v.IsOf(Content(b)) || v.IsOf(Content([]byte("other"))) || !bytes.Equal(lies(t, url), b) {
			t.Errorf("of %d bytes there is %+v", len(b), v)
		}
		more := append([]byte("more "), b...)
		if err := objectstore.Put(t.Context(), url, Content(more), v); err != nil || !bytes.Equal(lies(t, url), more) {
			t.Errorf("in place of %d bytes: %v", len(b), err)
		}
	}
	if v := stat(t, s.Store(t, "foreign", []byte("content"))); v.Sum != "" || v.IsOf(Content([]byte("content"))) {
		t.Errorf("what another client wrote is identified by %q", v.Sum)
	}
}

// putFaults returns the faults of a writing request.
func putFaults() map[string]Fault {
	return map[string]Fault{"status 500": {Status: 500}, "status 503": {Status: 503, After: "1"}, "status 429": {Status: 429}, "cut": {Take: 1000}, "lost": {Lost: true}}
}

func (s Service) putFaults(t *testing.T) {
	defer s.Fail(nil)
	for name, fault := range putFaults() {
		for _, over := range []bool{false, true} {
			url := s.at(t, strings.ReplaceAll(name, " ", "-"))
			if over {
				url = s.Store(t, strings.ReplaceAll(name, " ", "-")+"-over", []byte("old"))
			}
			want, was := content(300_000), stat(t, url)
			s.Requests()
			s.Fail(func(n int, _ *http.Request) Fault {
				if n == 0 {
					return fault
				}
				return Fault{}
			})
			var traffic objectstore.Traffic
			err := objectstore.Put(objectstore.Count(t.Context(), &traffic), url, Content(want), was)
			s.Fail(nil)
			if n := len(s.Requests()); err != nil || n < 2 || !s.Client && int64(n) > traffic.Requests.Load() { // a request may find its connection closed
				t.Errorf("%s, over another %v: %d requests, %d counted: %v", name, over, n, traffic.Requests.Load(), err)
				continue
			}
			if got := lies(t, url); !bytes.Equal(got, want) {
				t.Errorf("%s, over another %v: %d bytes are there", name, over, len(got))
			}
		}
	}
}

// clash checks that err is that of a second writer, and that the URL still has the content
// left.
func clash(t *testing.T, err error, url, left string) {
	t.Helper()
	if !errors.Is(err, objectstore.ErrChanged) || !strings.Contains(err.Error(), "another writer") || !strings.HasPrefix(err.Error(), objectstore.Name(url)+": ") {
		t.Errorf("%v", err)
	}
	if got := lies(t, url); string(got) != left {
		t.Errorf("%.20q is there, want %q", got, left)
	}
}

func (s Service) conditions(t *testing.T) {
	url := s.Store(t, "conditions", []byte("old"))
	clash(t, objectstore.Put(t.Context(), url, Content([]byte("mine")), nil), url, "old")
	was := stat(t, url)
	s.Store(t, "conditions", []byte("newer"))
	clash(t, objectstore.Put(t.Context(), url, Content([]byte("mine")), was), url, "newer")
	if !s.Removes {
		clash(t, objectstore.Delete(t.Context(), url, *was), url, "newer")
	}
	// The answer is lost, and then another writer puts a file.
	defer s.Fail(nil)
	was = stat(t, url)
	s.Requests()
	s.Fail(func(n int, _ *http.Request) Fault {
		if n == 0 {
			return Fault{Lost: true}
		}
		s.Fail(nil)
		s.Store(t, "conditions", []byte("newest"))
		return Fault{}
	})
	clash(t, objectstore.Put(t.Context(), url, Content([]byte("mine")), was), url, "newest")
}

func (s Service) delete(t *testing.T) {
	defer s.Fail(nil)
	for name, fault := range map[string]Fault{"none": {}, "status 503": {Status: 503}, "lost": {Lost: true}} {
		url := s.Store(t, "delete", []byte("content"))
		was := stat(t, url)
		s.Requests()
		s.Fail(func(n int, _ *http.Request) Fault {
			if n == 0 {
				return fault
			}
			return Fault{}
		})
		err := objectstore.Delete(t.Context(), url, *was)
		s.Fail(nil)
		if v := stat(t, url); err != nil || v != nil {
			t.Errorf("%s: %v, there is %+v", name, err, v)
		}
		if err := objectstore.Delete(t.Context(), url, *was); err != nil && !errors.Is(err, objectstore.ErrChanged) {
			t.Errorf("%s: of what is gone: %v", name, err)
		}
	}
}

func (s Service) putErrors(t *testing.T) {
	url := s.at(t, "put-errors")
	defer s.Fail(nil)
	for _, status := range []int{400, 401, 403, 404, 405} {
		s.Requests()
		s.Fail(func(int, *http.Request) Fault { return Fault{Status: status} })
		err := objectstore.Put(t.Context(), url, Content([]byte("content")), nil)
		if err == nil || len(s.Requests()) != 1 || strings.Contains(err.Error(), s.Secret) || !strings.HasPrefix(err.Error(), objectstore.Name(url)+": ") {
			t.Errorf("%d: %v", status, err)
		}
	}
	s.Fail(nil)
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	s.Fail(func(int, *http.Request) Fault {
		cancel(stop)
		return Fault{Take: 1000, Stall: true}
	})
	if err := objectstore.Put(ctx, url, Content(content(30<<20)), nil); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	s.Fail(nil)
	if v := stat(t, url); v != nil {
		t.Errorf("of what was given up there is %+v", v)
	}
}

// parts writes a file that goes in parts, if the service has these.
func (s Service) parts(t *testing.T) {
	if s.Unfinished == nil {
		t.Skip("the service has no parts")
	}
	url, want := s.at(t, "parts"), content(large)
	defer s.Fail(nil)
	for name, c := range map[string]struct {
		fault func(n int, r *http.Request) Fault
		left  bool
	}{
		"none": {func(int, *http.Request) Fault { return Fault{} }, true},
		"each once": {func() func(int, *http.Request) Fault {
			failed := failedOnce{}
			return func(n int, r *http.Request) Fault {
				if n == 0 || !failed.first(r) { // if the first request failed, its upload would be unknown
					return Fault{}
				}
				return []Fault{{Status: 500}, {Take: 1000}, {Lost: true}}[n%3]
			}
		}(), true},
		"never the third part": {func(n int, r *http.Request) Fault {
			if n == 3 {
				return Fault{Status: http.StatusBadRequest}
			}
			return Fault{}
		}, false},
	} {
		was := stat(t, url)
		if was != nil {
			if err := objectstore.Delete(t.Context(), url, *was); err != nil {
				t.Fatal(err)
			}
		}
		s.Requests()
		s.Fail(c.fault)
		err := objectstore.Put(t.Context(), url, Content(want), nil)
		s.Fail(nil)
		if n := len(s.Requests()); (err == nil) != c.left || n < 4 {
			t.Errorf("%s: %d requests: %v", name, n, err)
		}
		switch v := stat(t, url); {
		case !c.left && v != nil:
			t.Errorf("%s: there is %+v", name, v)
		case c.left && (!v.IsOf(Content(want)) || !bytes.Equal(lies(t, url), want)):
			t.Errorf("%s: there is %+v", name, v)
		}
		if n := s.Unfinished(t); n != 0 {
			t.Errorf("%s: %d files of parts are left", name, n)
		}
	}
	old := []byte("old")
	s.Store(t, "parts", old)
	clash(t, objectstore.Put(t.Context(), url, Content(want), nil), url, "old")
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	s.Requests()
	s.Fail(func(n int, r *http.Request) Fault {
		if n == 4 {
			cancel(stop)
		}
		return Fault{}
	})
	if err := objectstore.Put(ctx, url, Content(want), stat(t, url)); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	s.Fail(nil)
	if n := s.Unfinished(t); n != 0 || string(lies(t, url)) != "old" {
		t.Errorf("%d files of parts are left of what was given up", n)
	}
}
