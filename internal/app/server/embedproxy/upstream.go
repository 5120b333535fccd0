package embedproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// upstream is the service that makes vectors.
type upstream struct {
	base    string
	o       Options
	client  *http.Client
	slots   chan struct{} // one for each call under way
	metrics *metrics
	format  atomic.Int32 // whether it knows base64
}

// What is known of an upstream: nothing, that it takes a request for base64, or that it
// refuses those and takes others.
const (
	formatUnknown = iota
	formatBase64
	formatFloat
)

// Bounds on what an upstream is waited for and read.
const (
	mostRefusal   = 64 << 10         // of an error's body, bytes
	mostPerVector = 1 << 20          // of an answer, bytes
	mostModels    = 16 << 20         // of a list of models, bytes
	longestWait   = 30 * time.Second // before a call is made again; who asks for more is told the client
	firstWait     = time.Second / 2  // before the first call again, doubled for each
)

func newUpstream(base string, o Options, m *metrics) *upstream {
	transport := o.Transport
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.MaxIdleConnsPerHost, own.IdleConnTimeout = o.Calls, 30*time.Second
		transport = own
	}
	u := &upstream{base: base, o: o, slots: make(chan struct{}, o.Calls), metrics: m, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // credentials stay
	}}
	if o.Floats {
		u.format.Store(formatFloat)
	}
	return u
}

// embed asks for the vectors of some inputs of a request.
func (u *upstream) embed(ctx context.Context, q *request, inputs []input, who http.Header) ([]Embedding, usage, error) {
	format := u.format.Load()
	body, err := u.persist(ctx, q.body(inputs, format != formatFloat), len(inputs), who)
	if refused, ok := errors.AsType[*upstreamError](err); ok && format == formatUnknown && (refused.status == http.StatusBadRequest || refused.status == http.StatusUnprocessableEntity) {
		if body, err = u.persist(ctx, q.body(inputs, false), len(inputs), who); err == nil {
			u.format.Store(formatFloat)
		}
	} else if err == nil {
		u.format.CompareAndSwap(formatUnknown, formatBase64)
	}
	if err != nil {
		return nil, usage{}, err
	}
	all, used, err := parseAnswer(body, len(inputs), q.dimensions)
	if err != nil {
		u.metrics.wrong.Add(1)
		return nil, usage{}, &requestError{http.StatusBadGateway, "the upstream's answer cannot be right, so it is not kept: " + err.Error()}
	}
	return all, used, nil
}

// persist posts a body, again where the upstream has certainly not done what it was
// asked for, or says itself that it failed. An answer that stays away is not asked for
// again: it may have been made, and charged for.
func (u *upstream) persist(ctx context.Context, body []byte, n int, who http.Header) ([]byte, error) {
	for try := 0; ; try++ {
		answer, err := u.post(ctx, body, n, who)
		if err == nil || try >= u.o.Retries {
			return answer, err
		}
		wait, ok := waitFor(err, try)
		if !ok {
			return nil, err
		}
		u.metrics.retries.Add(1)
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// waitFor is how long to wait before a call is made again, and whether it is.
func waitFor(err error, try int) (time.Duration, bool) {
	wait := time.Duration(float64(firstWait<<min(try, 10)) * (0.5 + rand.Float64()/2)) //nolint:gosec // it need not be secret
	wait = min(wait, longestWait)
	if unreached := (*net.OpError)(nil); errors.As(err, &unreached) && unreached.Op == "dial" {
		return wait, true
	}
	refused, ok := errors.AsType[*upstreamError](err)
	if !ok {
		return 0, false
	}
	switch refused.status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return 0, false
	}
	asked := retryAfter(refused.header)
	return max(wait, asked), asked <= longestWait
}

// retryAfter is how long the upstream asks to be left alone.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return time.Until(at)
	}
	return 0
}

// post makes one call, when there is a place for it.
func (u *upstream) post(ctx context.Context, body []byte, n int, who http.Header) ([]byte, error) {
	select {
	case u.slots <- struct{}{}:
		defer func() { <-u.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := u.patience(ctx)
	defer cancel()
	began := time.Now()
	u.metrics.calls.Add(1)
	u.metrics.sent.Add(int64(len(body)))
	defer func() { u.metrics.asking.Add(int64(time.Since(began))) }()
	a, err := u.do(ctx, http.MethodPost, "/embeddings", body, who, int64(n+1)*mostPerVector)
	if err == nil {
		u.metrics.received.Add(int64(len(a.body)))
		err = a.refusal()
	}
	if err != nil {
		u.metrics.failed.Add(1)
		return nil, err
	}
	return a.body, nil
}

// An answer is what an upstream says, good or bad.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a call and reads its answer, of which at most so many bytes are taken.
func (u *upstream) do(ctx context.Context, method, path string, body []byte, who http.Header, most int64) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, &requestError{http.StatusBadRequest, "the upstream has no such path"}
	}
	req.Header = who.Clone()
	req.Header.Set("User-Agent", "larder")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := u.client.Do(req)
	if err != nil {
		return nil, u.trouble(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= http.StatusMultipleChoices {
		most = mostRefusal
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return nil, u.trouble(ctx, err)
	case int64(len(text)) > most && res.StatusCode < http.StatusMultipleChoices:
		return nil, &requestError{http.StatusBadGateway, fmt.Sprintf("the upstream's answer is larger than %d bytes", most)}
	}
	return &answer{res.StatusCode, res.Header, text[:min(int64(len(text)), most)]}, nil
}

// trouble says why there is no answer, without what libraries say of requests.
func (u *upstream) trouble(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if unreached := (*net.OpError)(nil); errors.As(err, &unreached) && unreached.Op == "dial" {
		return &unreachable{requestError{http.StatusBadGateway, "the upstream cannot be reached: " + unreached.Err.Error()}, unreached}
	}
	return &requestError{http.StatusBadGateway, "the upstream's answer broke off, or is none of HTTP"}
}

// unreachable is a requestError of a call that never began.
type unreachable struct {
	requestError
	dial *net.OpError
}

func (e *unreachable) Unwrap() []error { return []error{&e.requestError, e.dial} }

// refusal is the error of an answer that is none of success.
func (a *answer) refusal() error {
	switch {
	case a.status == http.StatusOK:
		return nil
	case a.status >= http.StatusBadRequest:
		return &upstreamError{a.status, a.header, a.body}
	case a.status >= http.StatusMultipleChoices:
		return &requestError{http.StatusBadGateway, "the upstream sends clients on to another URL: name that one as the upstream"}
	}
	return &requestError{http.StatusBadGateway, fmt.Sprintf("the upstream answered with status %d", a.status)}
}

// list asks about models.
func (u *upstream) list(ctx context.Context, path string, who http.Header) (*answer, error) {
	ctx, cancel := u.patience(ctx)
	defer cancel()
	a, err := u.do(ctx, http.MethodGet, path, nil, who, mostModels)
	if err == nil {
		err = a.refusal()
	}
	return a, err
}

// patience is a context that ends when the upstream has had its time.
func (u *upstream) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, u.o.Timeout, &requestError{http.StatusGatewayTimeout, fmt.Sprintf("the upstream did not answer within %v", u.o.Timeout)})
}
