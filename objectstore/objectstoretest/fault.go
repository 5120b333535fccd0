package objectstoretest

import (
	"io"
	"net/http"
	"time"
)

// A Fault is a failure of a request. The zero Fault is none.
type Fault struct {
	Latency  time.Duration // before the answer
	Status   int           // is the whole answer; 0 for none
	After    string        // Retry-After, with Status
	Redirect string        // target of a redirect
	Tag      string        // an ETag that replaces the file's
	Range    string        // a Content-Range that replaces the right one
	Whole    bool          // Range is not supported
	Cut      int64         // the body breaks off after n bytes; 0 for never
	Flip     int64         // bit 0 of this byte of the body is flipped, counted from 1; 0 for none
	Stall    bool          // after Cut bytes nothing comes until the client disconnects
	Encoding string        // a Content-Encoding that does not match the body
	Take     int64         // the connection ends after n bytes of the request body; 0 for never. With Stall it stays open
	Lost     bool          // the request is executed, but the answer gets lost
}

// sender is a response with a possible fault.
type sender struct {
	http.ResponseWriter
	Fault
	server *Server
	sent   int64
	r      *http.Request
}

// before applies faults that precede the lookup of the file, and reports whether the
// request is finished.
func (s *sender) before(r *http.Request) bool {
	s.r = r
	if s.Latency > 0 {
		t := time.NewTimer(s.Latency)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			return true
		}
	}
	if s.Take > 0 {
		_, _ = io.CopyN(io.Discard, r.Body, s.Take)
		if s.Stall && s.server.hold(s.ResponseWriter) {
			return true
		}
		panic(http.ErrAbortHandler)
	}
	if s.Redirect != "" {
		http.Redirect(s.ResponseWriter, r, s.Redirect, http.StatusFound)
		return true
	}
	if s.Status != 0 {
		if s.After != "" {
			s.Header().Set("Retry-After", s.After)
		}
		http.Error(s.ResponseWriter, http.StatusText(s.Status), s.Status)
	}
	return s.Status != 0
}

// WriteHeader implements http.ResponseWriter.
func (s *sender) WriteHeader(status int) {
	if s.Range != "" {
		s.Header().Set("Content-Range", s.Range)
	}
	if s.Tag != "" {
		s.Header().Set("Etag", s.Tag)
	}
	if s.Encoding != "" {
		s.Header().Set("Content-Encoding", s.Encoding)
	}
	if s.Lost && status >= http.StatusOK { // others precede the answer
		panic(http.ErrAbortHandler)
	}
	s.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (s *sender) Write(b []byte) (n int, err error) {
	if s.Lost {
		panic(http.ErrAbortHandler)
	}
	if at := s.Flip - 1 - s.sent; s.Flip > 0 && at >= 0 && at < int64(len(b)) {
		b = append([]byte(nil), b...)
		b[at] ^= 1
	}
	ends := s.Cut > 0 && s.sent+int64(len(b)) >= s.Cut
	if ends {
		b = b[:max(0, s.Cut-s.sent)]
	}
	n, err = s.ResponseWriter.Write(b)
	s.sent += int64(n)
	s.server.mu.Lock()
	s.server.bytes += int64(n)
	s.server.mu.Unlock()
	if !ends || err != nil {
		return n, err
	}
	if f, ok := s.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
	if s.Stall {
		<-s.r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}
