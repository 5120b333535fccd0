package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/store/memory"
)

// pipes accepts connections without buffers: a write waits for the read of the other side.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// slowly starts an endless read over a connection without a buffer.
func slowly(t *testing.T) (s *Server, body io.Reader) {
	t.Helper()
	ld, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	s = New(Options{Larder: ld, Log: slog.New(slog.DiscardHandler)})
	spec := rows(t, 10)["flow"].(map[string]any)
	dir := spec["dir"].(string)
	if err := os.WriteFile(filepath.Join(dir, "flow.yaml"), []byte(spec["text"].(string)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := s.Remote(RemoteOptions{Flows: dir, Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	r.alive = time.Hour // a batch that waits for a message waits in a mutex, during which no time passes in a bubble
	h, listener := r.HTTP(), make(pipes)
	ended := make(chan error)
	go func() { ended <- h.Serve(listener) }()
	ours, theirs := net.Pipe()
	listener <- theirs
	text, _ := json.Marshal(map[string]any{"open": remoteOpen("flow.yaml"), "start": map[string]any{}})
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/batches", bytes.NewReader(text))
	req.Header.Set("Authorization", "Bearer "+testToken)
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil }}
	req.RequestURI, req.URL.Scheme, req.URL.Host = "", "http", "server"
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = res.Body.Close()
		_ = ours.Close()
		_ = h.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		_ = r.Close()
		s.cancel()
		if err := ld.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, res.Body
}

func until(t *testing.T, body io.Reader, k kind) frame {
	t.Helper()
	for {
		f, err := readFrame(body, maxReply)
		if err != nil {
			t.Fatal(err)
		}
		if f.kind == k {
			return f
		}
	}
}

// TestASlowClientHoldsUpTheServer checks that a client that reads nothing blocks the
// server, which prefetches only up to its bound.
func TestASlowClientHoldsUpTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, body := slowly(t)
		until(t, body, kindStarted)
		handed := func() int64 {
			synctest.Wait()
			st := s.Status()
			if len(st.Connections) != 1 || st.Connections[0].Reader == nil || !strings.Contains(st.Connections[0].Open, "flow.yaml") {
				t.Fatalf("%+v", st.Connections)
			}
			return st.Connections[0].Reader.Batches
		}
		before := handed()
		if before > 64 { // batches of some hundred bytes fill the buffers of HTTP
			t.Errorf("%d batches went to a client that took none", before)
		}
		<-time.After(5 * time.Minute)
		if after := handed(); after != before {
			t.Errorf("%d batches, and later %d, went to a client that took none", before, after)
		}
		for range 100 {
			until(t, body, kindData)
		}
		if after := handed(); after < 100 || after > 100+before {
			t.Errorf("%d batches went to a client that took 100", after)
		}
	})
}

// TestAReplyOutlastsTheTimeOfItsRequest checks that no timeout of a request bounds its
// reply.
func TestAReplyOutlastsTheTimeOfItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, body := slowly(t)
		for range 5 {
			until(t, body, kindData)
			<-time.After(time.Minute)
		}
		for range 100 {
			until(t, body, kindData)
		}
	})
}

// TestTheServerSaysThatItLives checks that an idle reply carries keep-alives until it is
// closed.
func TestTheServerSaysThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		r := newFrameReply(w, aliveEvery)
		<-time.After(2*aliveEvery + time.Second)
		r.close()
		<-time.After(2 * aliveEvery)
		r.note("info", "of a flow that others have open")
		for range 2 {
			if f := until(t, w.Body, kindNote); string(f.body) != `{"level":"alive","text":""}` {
				t.Errorf("%s", f.body)
			}
		}
		if w.Body.Len() > 0 {
			t.Errorf("a closed reply says %q", w.Body)
		}
	})
}
