package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/larder-data/larder/loader"
)

// Remote sends batches to other machines over HTTP, as docs/reference/protocol.md
// specifies. It refuses clients without the token or a certificate verified by TLS.
type Remote struct {
	server *Server
	flows  string
	token  string
	root   *os.Root
	alive  time.Duration // interval of notes that the server is alive
}

// aliveEvery is the interval of notes that the server is alive.
const aliveEvery = 15 * time.Second

// RemoteOptions configure access.
type RemoteOptions struct {
	Flows string // the directory of permitted flows
	// Token is the token that clients must send. Without one, the listener must
	// verify their certificates.
	Token string
}

// Remote returns a handler that sends batches of the server to other machines. It
// works while the server serves.
func (s *Server) Remote(o RemoteOptions) (*Remote, error) {
	flows, err := filepath.Abs(o.Flows)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(flows)
	if err != nil {
		return nil, fmt.Errorf("the directory of flows: %w", err)
	}
	return &Remote{server: s, flows: flows, token: o.Token, root: root, alive: aliveEvery}, nil
}

// HTTP returns an HTTP server for it. The caller passes connections to it.
func (r *Remote) HTTP() *http.Server {
	return &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, ErrorLog: slog.NewLogLogger(r.server.log.Handler(), slog.LevelDebug)}
}

// Close closes the directory of flows.
func (r *Remote) Close() error { return r.root.Close() }

// ServeHTTP implements [http.Handler].
func (r *Remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch {
	case !r.lets(req):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed (Authorization: Bearer ...)", http.StatusUnauthorized)
	case req.URL.Path == "/v1/metrics" && req.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		st := r.server.Status()
		_ = st.WriteMetrics(w) // otherwise the client has gone
	case req.URL.Path != "/v1/batches" && req.URL.Path != "/v1/samples":
		http.NotFound(w, req)
	case req.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST a request", http.StatusMethodNotAllowed)
	default:
		r.answer(w, req)
	}
}

// lets reports whether a client is authorised.
func (r *Remote) lets(req *http.Request) bool {
	if r.token == "" {
		return req.TLS != nil && len(req.TLS.VerifiedChains) > 0
	}
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(r.token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// remoteRequest is the body of a request.
type remoteRequest struct {
	Open    openRequest  `json:"open"`
	Start   startRequest `json:"start"`
	Samples []int        `json:"samples"`
	ID      string       `json:"id"` // of a pipeline opened before
}

// answer answers with frames, or with an Arrow stream if the client requests one.
func (r *Remote) answer(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxRequest))
	if err != nil {
		http.Error(w, "the request is too large, or was cut off", http.StatusBadRequest)
		return
	}
	reader := &remoteReader{client: clientOf(req), began: time.Now()}
	if !r.server.enter(reader) {
		http.Error(w, "too many concurrent readers", http.StatusServiceUnavailable)
		return
	}
	defer r.server.exit(reader)
	var out reply
	if accepts(req, arrowType) {
		out = newArrowReply(w)
	} else {
		out = newFrameReply(w, r.alive)
	}
	defer out.close()
	var q remoteRequest
	if err = decode(body, &q); err != nil {
		err = requestError{err}
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(errGone)
	defer context.AfterFunc(r.server.ctx, func() { cancel(errEnding) })()
	if err == nil {
		err = r.read(ctx, &q, req.URL.Path == "/v1/samples", reader, out)
	}
	if err != nil {
		r.server.log.Debug("a reply to another machine ended", "client", reader.client, "error", err)
		out.fail(err)
	}
}

// accepts reports whether a client accepts a media type.
func accepts(req *http.Request, name string) bool {
	for _, line := range req.Header.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			if t, _, err := mime.ParseMediaType(one); err == nil && t == name {
				return true
			}
		}
	}
	return false
}

// read sends the requested batches or samples.
func (r *Remote) read(ctx context.Context, q *remoteRequest, samples bool, reader *remoteReader, out reply) error {
	if err := r.locate(&q.Open); err != nil {
		return err
	}
	p, err := r.server.pipelines.get(ctx, &q.Open, q.ID, out.note)
	if err != nil {
		return err
	}
	defer r.server.pipelines.leave(p)
	e, err := p.loader.Plan().Epoch(0)
	if err != nil {
		return err
	}
	if err := out.opened(p, e.Batches(0)); err != nil {
		return err
	}
	reader.opened(p, &q.Start)
	if samples {
		return r.gather(ctx, p, q.Samples, out)
	}
	return r.stream(ctx, reader, out)
}

// locate finds the flow of a request, which must be in the directory of flows. A
// client may read what these flows name, but must not read other files by a flow of
// its own.
func (r *Remote) locate(o *openRequest) error {
	if o.Flow.Text != "" || o.Flow.Dir != "" || o.Flow.File == "" {
		return requestError{errors.New("flow: name a file in the server's directory of flows")}
	}
	if o.Python != "" {
		return requestError{errors.New("python: a remote client cannot name the functions that the server runs")}
	}
	if err := o.bounded(); err != nil {
		return err
	}
	info, err := r.root.Stat(filepath.FromSlash(o.Flow.File))
	if err != nil || !info.Mode().IsRegular() {
		return requestError{fmt.Errorf("there is no flow %q in the server's directory of flows", o.Flow.File)}
	}
	if len(o.Set) > 0 || o.Profile != "" {
		return requestError{errors.New("variables of flows cannot be set from another machine, as they may be paths")}
	}
	o.Flow.File = filepath.Join(r.flows, filepath.FromSlash(o.Flow.File))
	return nil
}

func (r *Remote) gather(ctx context.Context, p *pipeline, samples []int, out reply) error {
	for _, n := range samples {
		b, err := p.loader.Gather(ctx, 0, []int{n}, remoteAllocator{p.loader.Allocator()})
		if err != nil {
			return err
		}
		err = out.batch(p, b, loader.State{})
		b.Release()
		if err != nil {
			return err
		}
	}
	return out.got(len(samples))
}

// remoteAhead is the number of batches to prefetch for a client on another machine.
const remoteAhead = 16

// stream sends the batches of a reader.
func (r *Remote) stream(ctx context.Context, reader *remoteReader, out reply) error {
	o, p := &reader.request, reader.pipeline
	from, err := o.from(p.loader.Plan())
	if err != nil {
		return err
	}
	batches, err := p.loader.Read(ctx, loader.ReadOptions{Rank: o.Rank, WorldSize: o.WorldSize, Share: o.Share, Shares: o.Shares, From: &from, Epochs: o.Epochs, Ahead: remoteAhead, AheadBytes: defaultRing, Budget: r.server.ahead, Allocator: remoteAllocator{p.loader.Allocator()}})
	if err != nil {
		return requestError{err}
	}
	defer batches.Close()
	reader.reads(batches)
	defer reader.reads(nil)
	n, err := p.loader.Plan().Batches(from, o.Rank, o.WorldSize)
	if err != nil {
		return err
	}
	if err := out.started(prefixOf(from), (n-o.Share+o.Shares-1)/o.Shares); err != nil {
		return err
	}
	reader.meter.epoch.Store(from.Epoch)
	for ended := 0; o.Epochs == 0 || ended < o.Epochs; {
		asked := time.Now()
		b, err := batches.Next(ctx)
		made := time.Now()
		reader.meter.forBatches.Add(int64(made.Sub(asked)))
		after := batches.State()
		switch {
		case errors.Is(err, io.EOF) && b == nil:
			ended++
			err = out.epoch(reader.meter.epoch.Swap(after.Epoch), after)
		case err == nil:
			reader.meter.count(b)
			err = out.batch(p, b, after)
			b.Release()
		}
		if err != nil {
			return err
		}
		reader.meter.forClient.Add(int64(time.Since(made)))
	}
	return out.stopped()
}
