package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/larder-data/larder/loader"
)

// Remote hands batches to other machines over HTTP, as docs/protocol.md has it. It lets
// nobody in who has not the token, or for whom TLS has not checked a certificate.
type Remote struct {
	server *Server
	flows  string
	token  string
	root   *os.Root
}

// RemoteOptions say who is let in, and to what.
type RemoteOptions struct {
	Flows string // the folder of the flows that may be read
	// Token is what clients send. Without one they are to have a certificate that the
	// listener has checked.
	Token string
}

// Remote returns what hands batches of the server to other machines. It is used while
// the server serves.
func (s *Server) Remote(o RemoteOptions) (*Remote, error) {
	flows, err := filepath.Abs(o.Flows)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(flows)
	if err != nil {
		return nil, fmt.Errorf("the folder of flows: %w", err)
	}
	return &Remote{server: s, flows: flows, token: o.Token, root: root}, nil
}

// Close lets go of the folder of flows.
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
		_ = st.WriteMetrics(w) // else the client has gone
	case req.URL.Path != "/v1/batches" && req.URL.Path != "/v1/samples":
		http.NotFound(w, req)
	case req.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST a request", http.StatusMethodNotAllowed)
	default:
		r.answer(w, req)
	}
}

// lets reports whether a client may come in.
func (r *Remote) lets(req *http.Request) bool {
	if r.token == "" {
		return req.TLS != nil && len(req.TLS.VerifiedChains) > 0
	}
	given := sha256.Sum256([]byte(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")))
	want := sha256.Sum256([]byte(r.token))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// remoteRequest is the body of a request.
type remoteRequest struct {
	Open    openRequest  `json:"open"`
	Start   startRequest `json:"start"`
	Samples []int        `json:"samples"`
}

// answer answers with frames.
func (r *Remote) answer(w http.ResponseWriter, req *http.Request) {
	out := &remoteWriter{to: w, flush: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "application/vnd.larder.frames")
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, mostRequest))
	if err != nil {
		http.Error(w, "the request is too large, or was cut off", http.StatusBadRequest)
		return
	}
	var q remoteRequest
	if err = decode(body, &q); err != nil {
		err = requestError{err}
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(errGone)
	defer context.AfterFunc(r.server.ctx, func() { cancel(errEnding) })()
	if err == nil {
		err = r.read(ctx, &q, req.URL.Path == "/v1/samples", out)
	}
	if err != nil {
		_ = out.json(kindError, map[string]string{"code": codeOf(err), "text": message(err)}) // else the client has gone
	}
	_ = out.flush.Flush()
}

// read reads what was asked for.
func (r *Remote) read(ctx context.Context, q *remoteRequest, samples bool, out *remoteWriter) error {
	if err := r.locate(&q.Open); err != nil {
		return err
	}
	p, err := r.server.pipelines.get(ctx, &q.Open, out.note)
	if err != nil {
		return err
	}
	defer r.server.pipelines.leave(p)
	e, err := p.loader.Plan().Epoch(0)
	if err == nil {
		err = out.json(kindOpened, map[string]any{"parts": p.parts, "batches": e.Batches(0)})
	}
	if err != nil {
		return err
	}
	if samples {
		return r.gather(ctx, p, q.Samples, out)
	}
	return r.stream(ctx, p, &q.Start, out)
}

// locate finds the flow of a request, which is to be in the folder of flows: whoever may
// read what it names may not read other things by one of his own.
func (r *Remote) locate(o *openRequest) error {
	if o.Flow.Text != "" || o.Flow.Dir != "" || o.Flow.File == "" {
		return requestError{errors.New("flow: name a file in the server's folder of flows")}
	}
	info, err := r.root.Stat(filepath.FromSlash(o.Flow.File))
	if err != nil || !info.Mode().IsRegular() {
		return requestError{fmt.Errorf("there is no flow %q in the server's folder of flows", o.Flow.File)}
	}
	if len(o.Set) > 0 || o.Profile != "" {
		return requestError{errors.New("variables of flows cannot be set from another machine, as they may be paths")}
	}
	o.Flow.File = filepath.Join(r.flows, filepath.FromSlash(o.Flow.File))
	return nil
}

func (r *Remote) gather(ctx context.Context, p *pipeline, samples []int, out *remoteWriter) error {
	for _, n := range samples {
		b, err := p.loader.Gather(ctx, 0, []int{n}, nil)
		if err != nil {
			return err
		}
		if err := out.batch(p, b, loader.State{}); err != nil {
			return err
		}
	}
	return out.json(kindGot, map[string]any{"samples": len(samples)})
}

// stream hands out the batches of a reader.
func (r *Remote) stream(ctx context.Context, p *pipeline, o *startRequest, out *remoteWriter) error {
	from, err := o.from(p.loader.Plan())
	if err != nil {
		return err
	}
	ranks := max(o.Ranks, 1)
	reader, err := p.loader.Read(ctx, loader.ReadOptions{Rank: o.Rank, Ranks: ranks, Share: o.Share, Shares: o.Shares, From: &from, Epochs: o.Epochs, Ahead: remoteAhead, AheadBytes: defaultRing})
	if err != nil {
		return requestError{err}
	}
	defer reader.Close()
	n, err := p.loader.Plan().Batches(from, o.Rank, ranks)
	if err != nil {
		return err
	}
	shares := max(o.Shares, 1)
	if err := out.json(kindStarted, map[string]any{"prefix": prefixOf(from), "batches": (n - o.Share + shares - 1) / shares, "ring": 0}); err != nil {
		return err
	}
	epoch := from.Epoch
	for ended := 0; o.Epochs == 0 || ended < o.Epochs; {
		b, err := reader.Next(ctx)
		switch {
		case errors.Is(err, io.EOF) && b == nil:
			ended++
			after := reader.State()
			out.buffer = appendFrame(out.buffer, kindEpoch, func(b []byte) []byte {
				return appendNumbers(b, int64(epoch), int64(after.Epoch), int64(after.Position))
			})
			epoch, err = after.Epoch, out.send()
		case err == nil:
			out.skips(b)
			err = out.batch(p, b, reader.State())
		}
		if err != nil {
			return err
		}
	}
	out.buffer = appendFrame(out.buffer, kindStopped, func(b []byte) []byte { return b })
	return out.send()
}

// A remoteWriter writes frames into a reply.
type remoteWriter struct {
	to      io.Writer
	flush   *http.ResponseController
	buffer  []byte
	layouts layouts
	slot    uint32
}

// remoteAhead is how many batches are made ahead of a client on another machine.
const remoteAhead = 16

// patience is how long a client may take no byte.
const patience = 10 * time.Minute

// send sends what is in the buffer.
func (w *remoteWriter) send() error {
	_ = w.flush.SetWriteDeadline(time.Now().Add(patience)) // a reply that cannot have one has none
	_, err := w.to.Write(w.buffer)
	w.buffer = w.buffer[:0]
	if err == nil {
		err = w.flush.Flush()
	}
	return err
}

func (w *remoteWriter) json(k kind, v any) (err error) {
	if w.buffer, err = appendJSON(w.buffer, k, v); err != nil {
		return err
	}
	return w.send()
}

func (w *remoteWriter) note(level, text string) {
	_ = w.json(kindNote, map[string]string{"level": level, "text": text}) // else the client has gone
}

func (w *remoteWriter) skips(b *loader.Batch) {
	for _, s := range b.Skipped {
		_ = w.json(kindNote, skipNote(s)) // else the client has gone
	}
}

// batch sends a batch, and gives it back.
func (w *remoteWriter) batch(p *pipeline, b *loader.Batch, after loader.State) (err error) {
	defer b.Release()
	if uint64(len(b.Data)) > 1<<32-1 {
		return &memoryError{fmt.Errorf("a batch of %d bytes is too large for another machine; take smaller batches", len(b.Data))}
	}
	var layout int
	if w.buffer, layout, err = w.layouts.append(w.buffer, b.Fields); err != nil {
		return err
	}
	w.buffer = appendBatch(w.buffer, p, layout, w.slot, 0, 0, b, after)
	w.slot++
	w.buffer = binary.LittleEndian.AppendUint32(w.buffer, uint32(len(b.Data)))
	w.buffer = binary.LittleEndian.AppendUint16(w.buffer, uint16(kindData))
	w.buffer = append(w.buffer, 0, 0)
	if err := w.send(); err != nil {
		return err
	}
	if _, err = w.to.Write(b.Data); err == nil {
		err = w.flush.Flush()
	}
	return err
}
