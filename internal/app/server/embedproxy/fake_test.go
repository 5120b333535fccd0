package embedproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/store/memory"
)

// A fake is an upstream that counts its requests. It works without a network, so that
// synctest detects idle goroutines.
type fake struct {
	// before, if not nil, runs first and reports whether it answered a call. The strings of
	// these calls count as well.
	before func(w http.ResponseWriter, r *http.Request, q *asked) bool
	down   error // in place of any answer

	mu    sync.Mutex
	seen  map[string]int // inputs
	calls []*asked
}

// asked is one call.
type asked struct {
	Model      string            `json:"model"`
	Input      []json.RawMessage `json:"input"`
	Dimensions int               `json:"dimensions"`
	Format     string            `json:"encoding_format"`
	header     http.Header
	body       string
}

// RoundTrip implements [http.RoundTripper].
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.down != nil {
		return nil, f.down
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprintf(w, `{"path":%q,"key":%q}`, r.URL.Path, r.Header.Get("Authorization"))
		return
	}
	body, _ := io.ReadAll(r.Body)
	q := &asked{header: r.Header, body: string(body)}
	if err := json.Unmarshal(body, q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	f.calls = append(f.calls, q)
	for _, in := range q.Input {
		f.seen[string(in)]++
	}
	f.mu.Unlock()
	if f.before == nil || !f.before(w, r, q) {
		q.answer(w)
	}
}

// answer answers with vectors that depend on the whole request.
func (q *asked) answer(w io.Writer) {
	type one struct {
		Object    string `json:"object"`
		Index     int    `json:"index"`
		Embedding any    `json:"embedding"`
	}
	data := make([]one, len(q.Input))
	for i, in := range q.Input {
		j := len(data) - 1 - i // in another order
		data[j] = one{"embedding", i, any(q.vector(string(in)))}
		if q.Format == "base64" {
			data[j].Embedding = base64Of(q.vector(string(in)))
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": q.Model + "-001", "usage": usage{int64(len(data)), int64(len(data))}})
}

// vectorOf returns the fake's result for an input.
func vectorOf(model, in string) []float32 { return (&asked{Model: model}).vector(in) }

// vector returns the vector of an input.
func (q *asked) vector(in string) []float32 {
	n := q.Dimensions
	if n == 0 {
		n = 8
	}
	sum := sha256.Sum256([]byte(q.Model + "\n" + in))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(int8(sum[i%32])) / 100
	}
	return v
}

func base64Of(v []float32) string {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// count returns the calls since the last count.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.calls)
	f.calls = nil
	return n
}

// most returns the highest number of requests for an input, and the number of inputs.
func (f *fake) most() (most, inputs int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.seen {
		most = max(most, n)
	}
	return most, len(f.seen)
}

// A bench is a service with a fake upstream.
type bench struct {
	*testing.T
	fake *fake
	h    *Handler
	dir  string // of the cache
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

const fakeURL = "http://upstream.example/v1"

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{T: t, fake: &fake{seen: map[string]int{}}, dir: t.TempDir(), log: &lockedBuffer{}}
	b.open(o)
	return b
}

// newBubble is newBench without a disk, for tests within synctest.
func newBubble(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{T: t, fake: &fake{seen: map[string]int{}}, log: &lockedBuffer{}}
	b.open(o)
	return b
}

// open replaces the service by one with other options.
func (b *bench) open(o Options) {
	b.Helper()
	o.Log = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	of := larder.Options{Dir: b.dir, Logger: o.Log}
	if b.dir == "" {
		of.Store = memory.New(memory.Options{})
	}
	l, err := larder.Open(of)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	o.Larder = l
	if o.Upstream == "" {
		o.Upstream, o.Transport = fakeURL, b.fake
	}
	if b.h, err = New(o); err != nil {
		b.Fatal(err)
	}
}

// reply is the answer to a client.
type reply struct {
	status int
	header http.Header
	body   string
	Data   []struct {
		Index     int             `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
	Model string `json:"model"`
	Usage usage  `json:"usage"`
}

func (b *bench) post(body string, headers ...string) *reply {
	b.Helper()
	return b.postUntil(b.Context(), body, headers...)
}

// postUntil is post by a client that disconnects when ctx ends.
func (b *bench) postUntil(ctx context.Context, body string, headers ...string) *reply {
	b.Helper()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/embeddings", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return b.do(r)
}

func (b *bench) do(r *http.Request) *reply {
	b.Helper()
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	got := &reply{status: w.Code, header: w.Header(), body: w.Body.String()}
	if w.Code == http.StatusOK && strings.HasPrefix(got.body, `{"object"`) {
		if err := json.Unmarshal(w.Body.Bytes(), got); err != nil {
			b.Fatalf("%v\n%s", err, got.body)
		}
	}
	return got
}

// ok is post, which must succeed; it returns the number of inputs requested from the
// upstream.
func (b *bench) ok(body string, headers ...string) (*reply, string) {
	b.Helper()
	r := b.post(body, headers...)
	if r.status != http.StatusOK {
		b.Fatalf("status %d: %s", r.status, r.body)
	}
	return r, r.header.Get("X-Larder-Asked")
}

// texts returns a request body with some strings.
func texts(all ...string) string {
	raw, _ := json.Marshal(map[string]any{"model": "m", "input": all})
	return string(raw)
}
