// Package placetest is a server of files for tests: it counts what it is asked for, takes its
// time, and does what goes wrong on networks, as it is told.
package placetest

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/place"
)

// A Server serves files over http. Its methods may be called by many goroutines.
type Server struct {
	*httptest.Server
	behind http.Handler // what answers; nil for the server itself

	mu       sync.Mutex
	files    map[string]file
	fault    func(n int, r *http.Request) Fault
	requests []Request
	bytes    int64
	held     []net.Conn // of which nothing is read any more
}

type file struct {
	content  []byte
	tag      string
	modified time.Time
}

// A Request is one that was answered.
type Request struct {
	Method string
	Path   string
	Query  string // as it was written
	Range  string // "bytes=0-99", as it was asked for
	Header http.Header
}

// Old is when files were changed that nobody touched for long.
var Old = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// Serve starts a server of no files, which ends with the test. Until then requests are not sent
// twice for being late, so that their number is certain: see [place.AskOnce].
func Serve(t testing.TB) *Server {
	was := place.AskOnce.Swap(true)
	t.Cleanup(func() { place.AskOnce.Store(was) })
	s := &Server{files: map[string]file{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Cleanup(s.letGo)
	return s
}

// hold has nothing be read of a connection, nor said, and reports whether that can be done.
func (s *Server) hold(w http.ResponseWriter) bool {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, c)
	return true
}

// letGo ends what is held.
func (s *Server) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.held {
		_ = c.Close()
	}
}

// Front starts a server in front of another one, which counts and does what goes wrong, and has
// the other answer.
func Front(t testing.TB, behind http.Handler) *Server {
	s := Serve(t)
	s.behind = behind
	return s
}

// Put has the server have a file, with a strong ETag made of the content, and returns its URL.
func (s *Server) Put(name string, content []byte) string {
	return s.PutAs(name, content, `"`+key.DigestOf(content).String()[:16]+`"`, Old)
}

// PutAs is [Server.Put] with an ETag, "" for none, and a time, zero for none.
func (s *Server) PutAs(name string, content []byte, tag string, modified time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files["/"+name] = file{content, tag, modified}
	return s.URL + "/" + name
}

// Files returns the names of the files.
func (s *Server) Files() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.files))
}

// Fail has fault, which may be called by many goroutines, say what goes wrong with each request.
// They are counted from 0.
func (s *Server) Fail(fault func(n int, r *http.Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Requests returns what was asked for since it was called last.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests
	s.requests = nil
	return r
}

// Sent returns how many bytes of files were sent since it was called last.
func (s *Server) Sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.bytes
	s.bytes = 0
	return n
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Range"), r.Header.Clone()})
	fault := s.fault
	s.mu.Unlock()
	to := &sender{ResponseWriter: w, server: s}
	if fault != nil {
		to.Fault = fault(n, r)
	}
	if to.before(r) {
		return
	}
	if s.behind != nil {
		s.behind.ServeHTTP(to, r)
		if to.Lost { // an answer that has no body
			panic(http.ErrAbortHandler)
		}
		return
	}
	s.mu.Lock()
	f, ok := s.files[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	if f.tag != "" && to.Tag == "" {
		to.Tag = f.tag
	}
	if to.Tag != "" {
		w.Header().Set("Etag", to.Tag)
	}
	if to.Whole {
		r.Header.Del("Range")
	}
	http.ServeContent(to, r, strings.TrimPrefix(r.URL.Path, "/"), f.modified, bytes.NewReader(f.content))
}

// String is how a request is shown.
func (r Request) String() string { return fmt.Sprintf("%s %s", r.Path, r.Range) }
