package embedproxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serverFor starts the server of a bench, with shorter timeouts for requests.
func serverFor(b *bench, patience time.Duration) *httptest.Server {
	s := httptest.NewUnstartedServer(nil)
	s.Config = b.h.Server()
	s.Config.ReadHeaderTimeout, s.Config.ReadTimeout = patience, patience
	s.Start()
	b.Cleanup(s.Close)
	return s
}

// TestLongAnswers checks that an answer may take longer than the timeout of a request, on a
// connection that serves several.
func TestLongAnswers(t *testing.T) {
	b := newBench(t, Options{})
	s := serverFor(b, 50*time.Millisecond)
	b.fake.before = func(_ http.ResponseWriter, r *http.Request, _ *asked) bool {
		select {
		case <-r.Context().Done():
		case <-time.After(200 * time.Millisecond):
		}
		return false
	}
	for i := range 2 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/embeddings", strings.NewReader(texts(fmt.Sprint(i))))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if _ = res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%d %v %s", res.StatusCode, err, body)
		}
	}
}

// TestSlowClients checks that a client that does not send its announced body is
// disconnected.
func TestSlowClients(t *testing.T) {
	b := newBench(t, Options{})
	s := serverFor(b, 50*time.Millisecond)
	for _, sent := range []string{
		"POST /v1/embeddings HT",
		"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"mod",
	} {
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		reply, err := io.ReadAll(bufio.NewReader(c))
		if err != nil || len(reply) > 0 && !strings.HasPrefix(string(reply), "HTTP/1.1 4") {
			t.Errorf("after %q: %q, %v", sent, reply, err)
		}
		_ = c.Close()
	}
	if len(b.h.working)+len(b.h.waiting) != 0 {
		t.Error("places are still taken")
	}
}
