package embedproxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Bounds of clients.
const (
	maxRequest = 8 << 20         // bytes of a body
	slowest    = 2 * time.Minute // to read an answer
)

// enter waits for a slot to work on a request; leave releases it.
func (h *Handler) enter(r *http.Request) (leave func(), err error) {
	select {
	case h.waiting <- struct{}{}:
	default:
		return nil, &requestError{http.StatusServiceUnavailable, "too many concurrent requests; try again"}
	}
	select {
	case h.working <- struct{}{}:
		return func() { <-h.working; <-h.waiting }, nil
	case <-r.Context().Done():
		<-h.waiting
		return nil, r.Context().Err()
	}
}

// embeddings answers POST /v1/embeddings.
func (h *Handler) embeddings(w http.ResponseWriter, r *http.Request) {
	h.metrics.requests.Add(1)
	if err := h.embed(w, r); err != nil {
		if r.Context().Err() != nil {
			h.metrics.gone.Add(1)
		} else {
			h.metrics.refused.Add(1)
		}
		if own, ok := errors.AsType[*requestError](err); ok && own.status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		writeError(w, err)
	}
}

func (h *Handler) embed(w http.ResponseWriter, r *http.Request) error {
	// A browser can send other types for a web page without the user's consent.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &requestError{http.StatusUnsupportedMediaType, "the body must be JSON (Content-Type: application/json)"}
	}
	leave, err := h.enter(r)
	if err != nil {
		return err
	}
	defer leave()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return &requestError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes: send fewer inputs in a request", maxRequest)}
	}
	if err != nil {
		return &requestError{http.StatusBadRequest, "the body was cut off, or came too slowly"}
	}
	to := http.NewResponseController(w)
	_ = to.SetReadDeadline(time.Time{}) // it was for the body; when it expires now, it would end the request
	q, err := parseRequest(body)
	if err != nil {
		return &requestError{http.StatusBadRequest, err.Error()}
	}
	job, err := h.newWork(q, h.credentials(r))
	if err != nil {
		return err
	}
	if err := job.do(r.Context()); err != nil {
		return err
	}
	asked := job.count()
	job.check()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Larder-Asked", strconv.Itoa(asked))
	_ = to.SetWriteDeadline(time.Now().Add(slowest))
	_ = job.write(w) // otherwise the client has gone
	return nil
}

// write writes the answer, vector by vector.
func (w *work) write(to io.Writer) error {
	b := bufio.NewWriterSize(to, 64<<10)
	var text []byte
	_, _ = b.WriteString(`{"object":"list","data":[`)
	for i, at := range w.at {
		text = text[:0]
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"object":"embedding","index":`...)
		text = append(strconv.AppendInt(text, int64(i), 10), `,"embedding":`...)
		if v := w.results[at].Value.Vector; w.request.base64 {
			text = appendBase64(text, v)
		} else {
			text = appendNumbers(text, v)
		}
		if _, err := b.Write(append(text, '}')); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(b, `],"model":%s,"usage":%s}`+"\n", plainJSON(w.results[0].Value.Model), plainJSON(w.used))
	return b.Flush()
}

// served records models that were served under several names.
type served struct {
	mu    sync.Mutex
	known map[string]bool
}

// maxServed bounds its memory.
const maxServed = 1000

// check warns, once, if the vectors of an answer come from several models: the
// upstream now has another model under the requested name than when some vectors
// were stored.
func (w *work) check() {
	first := w.results[0].Value.Model
	for _, r := range w.results {
		if r.Value.Model == first {
			continue
		}
		w.served.mu.Lock()
		defer w.served.mu.Unlock()
		if w.served.known == nil || len(w.served.known) > maxServed {
			w.served.known = map[string]bool{}
		}
		if !w.served.known[w.request.model] {
			w.served.known[w.request.model] = true
			w.o.Log.Warn("the upstream's model differs from that of the cached vectors of a request; change --identity to recompute all vectors",
				"model", w.request.model, "one", first, "other", r.Value.Model)
		}
		return
	}
}
