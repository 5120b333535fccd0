package placetest

import (
	"io"
	"net/http"
	"time"
)

// A Fault is what goes wrong with a request. The zero Fault is nothing.
type Fault struct {
	Latency  time.Duration // before anything is said
	Status   int           // is all that is said; 0 for none
	After    string        // Retry-After, with Status
	Redirect string        // where to send on to
	Tag      string        // an ETag in place of the file's
	Range    string        // a Content-Range in place of the right one
	Whole    bool          // Range is not known
	Cut      int64         // the body breaks off after so many bytes; 0 for never
	Flip     int64         // bit 0 of this byte of the body is another one, counted from 1; 0 for none
	Stall    bool          // nothing comes after Cut bytes until the client goes away
	Encoding string        // a Content-Encoding that the body does not have
	Take     int64         // the connection ends when so many bytes of what is sent have come; 0 for never. With Stall it stays
	Lost     bool          // what is asked for is done, and the answer gets lost
}

// sender is a response to which something may happen.
type sender struct {
	http.ResponseWriter
	Fault
	server *Server
	sent   int64
	r      *http.Request
}

// before does what happens before a file is looked for, and reports whether that was all.
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
	if s.Lost && status >= http.StatusOK { // others come before the answer
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
