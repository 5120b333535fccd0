// Package objectstoretest provides a file server for tests. It counts requests, delays answers,
// and simulates network failures.
package objectstoretest

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
	"github.com/larder-data/larder/objectstore"
)

// A Server serves files over http. Its methods may be called by many goroutines.
type Server struct {
	*httptest.Server
	behind http.Handler // the answering handler; nil for the server itself

	mu       sync.Mutex
	files    map[string]file
	fault    func(n int, r *http.Request) Fault
	requests []Request
	bytes    int64
	held     []net.Conn // connections that are no longer read
}

type file struct {
	content  []byte
	tag      string
	modified time.Time
}

// A Request is an answered request.
type Request struct {
	Method string
	Path   string
	Query  string // as written
	Range  string // "bytes=0-99", as requested
	Header http.Header
}

// Old is the modification time of files that did not change for a long time.
var Old = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// Serve starts a server without files, which ends with the test. Until then late requests
// are not hedged, so their number is deterministic: see [objectstore.AskOnce].
func Serve(t testing.TB) *Server {
	was := objectstore.AskOnce.Swap(true)
	t.Cleanup(func() { objectstore.AskOnce.Store(was) })
	s := &Server{files: map[string]file{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Cleanup(s.letGo)
	return s
}

// hold stops reading and writing a connection, and reports whether that is possible.
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

// letGo closes the held connections.
func (s *Server) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.held {
		_ = c.Close()
	}
}

// Front starts a server in front of another one. It counts requests and simulates failures;
// behind answers.
func Front(t testing.TB, behind http.Handler) *Server {
	s := Serve(t)
	s.behind = behind
	return s
}

// Put adds a file, with a strong ETag computed from its content, and returns its URL.
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

// Fail sets the function that returns the fault of each request, counted from 0. Many
// goroutines may call it.
func (s *Server) Fail(fault func(n int, r *http.Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Requests returns the requests since the last call.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.requests
	s.requests = nil
	return r
}

// Sent returns how many bytes of files were sent since the last call.
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
		if to.Lost { // an answer without a body
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

// String formats a request.
func (r Request) String() string { return fmt.Sprintf("%s %s", r.Path, r.Range) }
