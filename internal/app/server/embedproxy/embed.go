// Package embedproxy stands in front of a service that turns texts into vectors, and never
// has it embed the same text twice.
//
// A [Handler] answers POST /v1/embeddings as OpenAI's API has it. Each input of a
// request is looked up by itself, under what the upstream is called, the model, all
// other members of the request but user and encoding_format, and the input. What is
// missing is asked of the upstream in batches, and kept as it comes back. Inputs that
// another request, or another process with the same cache folder, is asking for are
// waited for, and not asked for again.
//
// Who calls is not part of what is kept: credentials are passed on to the upstream and
// forgotten, and whoever may call the handler gets what is kept. Texts are not kept,
// only their digests.
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

// Options say what a Handler stands in front of. Those that are 0 or nil have a default.
type Options struct {
	Larder *larder.Larder
	// Upstream is the URL below which the service has /embeddings, such as
	// https://api.openai.com/v1.
	Upstream string
	// Identity is what the upstream is called in keys; "" means its URL. Another one
	// disowns all that was kept: it is to change when the same models answer otherwise.
	Identity string
	// Batch and BatchBytes bound what one call of the upstream asks for: inputs, 64 by
	// default, and bytes of them, 256 KiB. A single input may be larger.
	Batch, BatchBytes int
	// Calls is how many calls of the upstream are under way at once, 4 by default.
	Calls int
	// Retries is how often a call is made again that the upstream refused for the
	// moment or could not be reached for; below 0 never, 0 means 3 times.
	Retries int
	// Timeout bounds one call of the upstream; a minute by default.
	Timeout time.Duration
	// Floats asks the upstream for lists of numbers, and never for base64, which is
	// float32 at most.
	Floats bool
	// Token is what clients send, in X-Larder-Token or, if UpstreamKey is given, as
	// Authorization. Without one everybody is let in.
	Token string
	// UpstreamKey is sent to the upstream in place of what clients send as
	// Authorization. It needs a Token.
	UpstreamKey string
	// Local refuses requests that name another host than this machine, as web pages
	// can have a browser send: for handlers that listen at loopback.
	Local bool
	// Transport carries the calls of the upstream; nil means one of its own.
	Transport http.RoundTripper
	// Log takes warnings; nil means slog.Default().
	Log *slog.Logger
}

// A Handler is the service. It may be used by many goroutines.
type Handler struct {
	o        Options
	upstream *upstream
	value    *codec.Value[Embedding]
	metrics  metrics
	working  chan struct{} // a place for each request that is worked on
	waiting  chan struct{} // and for each that is there
	served   served
	mux      *http.ServeMux
}

// What is there at once, so that memory is bounded: requests that are worked on, and
// those that wait for that.
const (
	mostWorking = 64
	mostWaiting = 1024
)

// New returns a handler, or an error for options that do not go together.
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
	h := &Handler{o: o, value: value, working: make(chan struct{}, mostWorking), waiting: make(chan struct{}, mostWaiting)}
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

// parseUpstream returns the URL as it is used and named in keys. Credentials in it would
// be kept with every result.
func parseUpstream(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("the upstream is no URL such as https://api.openai.com/v1")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("the upstream %q is no URL such as https://api.openai.com/v1", u.Redacted())
	case u.User != nil:
		return "", errors.New("the upstream's URL must not have a password, which would be kept: clients send it, or a file has it")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the upstream's URL must end with its path: a query is not passed on")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/embeddings"), nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Server returns a server for the handler, which lets go of clients that are slow.
func (h *Handler) Server() *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(h.o.Log.Handler(), slog.LevelDebug),
	}
}
