package server

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/larder-data/larder/loader"
)

// A remoteReader is a client on another machine with a request in progress, for the
// status.
type remoteReader struct {
	number int
	client string
	began  time.Time
	meter  meter

	mu       sync.Mutex
	pipeline *pipeline // nil until it is open
	batches  *loader.Reader
	request  startRequest
}

// clientOf returns the client's description of itself and its address.
func clientOf(req *http.Request) string {
	return fmt.Sprintf("%.100s at %s", req.UserAgent(), req.RemoteAddr)
}

// opened records what is read.
func (r *remoteReader) opened(p *pipeline, o *startRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pipeline, r.request = p, *o
	r.request.fill()
}

func (r *remoteReader) reads(b *loader.Reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = b
}

func (r *remoteReader) status() ConnectionStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := ConnectionStatus{Number: r.number, Client: r.client, Seconds: time.Since(r.began).Seconds()}
	if r.pipeline != nil {
		st.Open = r.pipeline.name
		st.Reader = r.meter.status(&r.request, r.began)
		st.Reader.Window = remoteAhead
		if r.batches != nil {
			st.Reader.AheadBytes = r.batches.BytesAhead()
		}
	}
	return st
}

// enter adds a client on another machine; it returns false if there are too many.
func (s *Server) enter(r *remoteReader) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.remote) >= maxConnections {
		return false
	}
	s.next++
	r.number = s.next
	s.remote[r] = true
	return true
}

func (s *Server) exit(r *remoteReader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.remote, r)
}
