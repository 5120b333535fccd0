// Package embedproxy provides a caching proxy for a service that computes
// embeddings of texts, so that no text is embedded twice.
//
// A [Handler] answers POST /v1/embeddings of OpenAI's API. It looks up each input
// of a request separately. The key covers the name of the upstream, the model, the
// input, and all other members of the request except user and encoding_format. It
// requests missing inputs from the upstream in batches, and stores the results as
// they arrive. If another request, or another process with the same cache
// directory, is requesting an input, the handler waits for that result.
//
// The caller is not part of the key. Credentials are passed to the upstream and not
// stored, and every authorised client gets the cached results. Texts are not
// stored, only their digests.
package embedproxy

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
)

// Options configure a Handler. Those that are 0 or nil have a default.
type Options struct {
	Larder *larder.Larder
	// Upstream is the base URL of the service, which has /embeddings below it, such
	// as https://api.openai.com/v1.
	Upstream string
	// Identity is the name of the upstream in keys; "" means its URL. Another name
	// invalidates all stored results; it must change when the same models give
	// other results.
	Identity string
	// Batch and BatchBytes bound one call of the upstream: the number of inputs, 64
	// by default, and their bytes, 256 KiB. A single input may be larger.
	Batch, BatchBytes int
	// Calls is the number of concurrent calls of the upstream, 4 by default.
	Calls int
	// Retries is how often a call is repeated that the upstream refused
	// temporarily, or that did not reach it; negative means never, 0 means 3 times.
	Retries int
	// Timeout bounds one call of the upstream; a minute by default.
	Timeout time.Duration
	// Floats requests lists of numbers from the upstream, never base64, which has
	// at most float32.
	Floats bool
	// Token is the token that clients must send, in X-Larder-Token or, if
	// UpstreamKey is set, as Authorization. Without a token all clients are
	// accepted.
	Token string
	// UpstreamKey is sent to the upstream in place of the clients' Authorization.
	// It needs a Token.
	UpstreamKey string
	// Local refuses requests that name another host than this machine, which web
	// pages can make a browser send. It is for handlers on the loopback interface.
	Local bool
	// Transport sends the calls of the upstream; nil means a new one.
	Transport http.RoundTripper
	// Log takes warnings; nil means slog.Default().
	Log *slog.Logger
}

// A Handler is the service. It is safe for concurrent use.
type Handler struct {
	o        Options
	upstream *upstream
	value    *codec.Value[Embedding]
	metrics  metrics
	working  chan struct{} // a slot for each request in progress
	waiting  chan struct{} // and for each accepted request
	served   served
	mux      *http.ServeMux
}

// Bounds of memory: requests in progress, and requests that wait.
const (
	maxWorking = 64
	maxWaiting = 1024
)

// New returns a handler, or an error for invalid options.
func New(o Options) (*Handler, error) {
	base, err := parseUpstream(o.Upstream)
	if err != nil {
		return nil, err
	}
	if o.UpstreamKey != "" && o.Token == "" {
		return nil, errors.New("a key for the upstream needs a token that clients send: else anybody could use the key")
	}
	value, err := codec.For[Embedding]()
	if err != nil {
		return nil, err
	}
	o.Identity = cmp.Or(o.Identity, base)
	o.Batch, o.BatchBytes, o.Calls = cmp.Or(o.Batch, 64), cmp.Or(o.BatchBytes, 256<<10), cmp.Or(o.Calls, 4)
	o.Retries, o.Timeout = cmp.Or(o.Retries, 3), cmp.Or(o.Timeout, time.Minute)
	o.Log = cmp.Or(o.Log, slog.Default())
	h := &Handler{o: o, value: value, working: make(chan struct{}, maxWorking), waiting: make(chan struct{}, maxWaiting)}
	h.upstream = newUpstream(base, o, &h.metrics)
	h.mux = http.NewServeMux()
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	h.mux.HandleFunc("GET /metrics", h.guarded(h.writeMetrics))
	h.mux.HandleFunc("POST /v1/embeddings", h.guarded(h.embeddings))
	h.mux.HandleFunc("GET /v1/models", h.guarded(h.models))
	h.mux.HandleFunc("GET /v1/models/{id...}", h.guarded(h.models))
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, &requestError{http.StatusNotFound, fmt.Sprintf("there is no %s %s here: POST /v1/embeddings, GET /v1/models, /metrics and /healthz are served; for anything else ask the upstream", r.Method, r.URL.Path)})
	})
	return h, nil
}

// parseUpstream returns the URL in the form used for requests and keys. It refuses
// credentials, which would be stored with every result.
func parseUpstream(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("the upstream is not a URL such as https://api.openai.com/v1")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("the upstream %q is not a URL such as https://api.openai.com/v1", u.Redacted())
	case u.User != nil:
		return "", errors.New("the upstream's URL must not have a password, which would be stored; let clients send it, or give a file")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the upstream's URL must end with its path: a query is not passed on")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/embeddings"), nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Server returns a server for the handler, which disconnects slow clients.
func (h *Handler) Server() *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(h.o.Log.Handler(), slog.LevelDebug),
	}
}
