package objectstoretest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/objectstore"
)

// A Service is a server that a driver of package objectstore reads.
type Service struct {
	*Server
	// Store stores a file in a separate directory of the service, and returns its URL.
	Store func(t *testing.T, name string, content []byte) string
	// Secret is the driver's credential.
	Secret string
	// Lists reports that the service can list a directory.
	Lists bool
	// Client reports that the service's own client resumes broken answers. Such requests
	// are not counted.
	Client bool
	// Removes reports that the service ignores conditions of removals, as some test servers
	// do.
	Removes bool
	// Unfinished returns how many files of parts were begun, but neither ended nor aborted;
	// nil if the service has no parts.
	Unfinished func(t *testing.T) int
}

// Conform tests that a driver does what package objectstore expects: it reads the opened version
// correctly, whatever fails once. Errors must describe the problem and contain no secret.
func Conform(t *testing.T, s Service) {
	t.Run("bytes", s.bytes)
	t.Run("faults", s.faults)
	t.Run("versions", s.versions)
	t.Run("errors", s.errors)
	if s.Lists {
		t.Run("list", s.list)
	}
}

// content returns n bytes without repetition.
func content(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(b)
	return b
}

func open(t *testing.T, url string) *objectstore.File {
	t.Helper()
	f, err := objectstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func read(ctx context.Context, f *objectstore.File, at, n int64) ([]byte, error) {
	r, err := f.Reader(ctx, at, n)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func (s Service) bytes(t *testing.T) {
	want := content(300_000)
	for _, name := range []string{"a", "b c+ä%.tar"} {
		f := open(t, s.Store(t, name, want))
		if f.Size != int64(len(want)) || !f.Firm || f.Whole {
			t.Errorf("%s: %+v", name, f.Version)
		}
		for _, at := range []int64{0, 1, 150_000, 299_999} {
			n := min(100_000, f.Size-at)
			if b, err := read(t.Context(), f, at, n); err != nil || !bytes.Equal(b, want[at:at+n]) {
				t.Errorf("%s: %d bytes at %d, %v", name, len(b), at, err)
			}
		}
		if b, err := read(t.Context(), f, 0, f.Size); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s: %d bytes of all, %v", name, len(b), err)
		}
	}
	f := open(t, s.Store(t, "empty", nil))
	if b, err := read(t.Context(), f, 0, 0); f.Size != 0 || err != nil || len(b) != 0 {
		t.Errorf("%d bytes of a file of %d, %v", len(b), f.Size, err)
	}
}

func (s Service) faults(t *testing.T) {
	want := content(300_000)
	f := open(t, s.Store(t, "faults", want))
	defer s.Fail(nil)
	for name, fault := range map[string]Fault{
		"none": {}, "status 500": {Status: 500}, "status 503": {Status: 503}, "status 429": {Status: 429}, "cut": {Cut: 70_000}, "cut immediately": {Cut: 1},
		"another range": {Range: "bytes 1-5/300000"}, "another size": {Range: "bytes 1000-250999/999999"},
	} {
		s.Requests()
		s.Fail(func(n int, _ *http.Request) Fault {
			if n == 0 {
				return fault
			}
			return Fault{}
		})
		var traffic objectstore.Traffic
		b, err := read(objectstore.Count(t.Context(), &traffic), f, 1000, 250_000)
		if name == "another size" && errors.Is(err, objectstore.ErrChanged) {
			continue // equal to the right one
		}
		if err != nil || !bytes.Equal(b, want[1000:251_000]) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		all := map[bool]int{true: 1, false: 2}[name == "none"]
		counted := all
		if s.Client && fault.Cut != 0 {
			counted = 1
		}
		if n := len(s.Requests()); n != all || traffic.Requests.Load() != int64(counted) {
			t.Errorf("%s: %d requests, %d counted; want %d, %d", name, n, traffic.Requests.Load(), all, counted)
		}
	}
}

func (s Service) versions(t *testing.T) {
	f := open(t, s.Store(t, "versions", []byte("old content")))
	was := f.Version
	url := s.Store(t, "versions", []byte("new content"))
	if b, err := read(t.Context(), f, 0, 11); !errors.Is(err, objectstore.ErrChanged) {
		t.Errorf("%q, %v", b, err)
	}
	f = open(t, url)
	if b, err := read(t.Context(), f, 0, 11); err != nil || string(b) != "new content" || f.Tag == was.Tag {
		t.Errorf("%q, %v, %+v", b, err, f.Version)
	}
	defer s.Fail(nil)
	for _, status := range []int{404, 412} {
		s.Fail(func(int, *http.Request) Fault { return Fault{Status: status} })
		if b, err := read(t.Context(), f, 0, 11); !errors.Is(err, objectstore.ErrChanged) {
			t.Errorf("%d: %q, %v", status, b, err)
		}
	}
}

func (s Service) errors(t *testing.T) {
	url := s.Store(t, "errors", []byte("content"))
	f := open(t, url)
	if _, err := objectstore.Open(t.Context(), strings.TrimSuffix(url, "errors")+"none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	defer s.Fail(nil)
	for _, fault := range []Fault{{Status: 401}, {Status: 403}, {Status: 404}, {Status: 418}, {Range: "bytes hunter"}} {
		s.Requests()
		s.Fail(func(int, *http.Request) Fault { return fault })
		_, oerr := objectstore.Open(t.Context(), url)
		if fault.Status != 0 && (oerr == nil || len(s.Requests()) != 1) {
			t.Errorf("%+v: not tried once: %v", fault, oerr)
		}
		_, rerr := read(t.Context(), f, 0, 7)
		if rerr == nil {
			t.Errorf("%+v: no error", fault)
		}
		for _, err := range []error{oerr, rerr} {
			if err != nil && (strings.Contains(err.Error(), s.Secret) || !strings.HasPrefix(err.Error(), objectstore.Name(url)+": ")) {
				t.Errorf("%+v: %v", fault, err)
			}
		}
	}
}

func (s Service) list(t *testing.T) {
	var want []string
	for _, name := range []string{"list/a b.tar", "list/c.tar"} {
		want = append(want, s.Store(t, name, []byte("content")))
	}
	s.Store(t, "list/below/d.tar", []byte("content"))
	dir := want[0][:strings.LastIndex(want[0], "/")+1]
	if all, err := objectstore.List(t.Context(), dir); err != nil || !slices.Equal(all, want) {
		t.Errorf("%v, %v, want %v", all, err, want)
	}
}
