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

// upstream is the service that computes vectors.
type upstream struct {
	base    string
	o       Options
	client  *http.Client
	slots   chan struct{} // one for each call in progress
	metrics *metrics
	format  atomic.Int32 // whether it supports base64
}

// The support of base64 by an upstream: unknown, accepted, or refused while other
// formats are accepted.
const (
	formatUnknown = iota
	formatBase64
	formatFloat
)

// Bounds of calls of an upstream.
const (
	maxRefusal   = 64 << 10         // bytes of an error's body
	maxPerVector = 1 << 20          // bytes of an answer
	maxModels    = 16 << 20         // bytes of a list of models
	longestWait  = 30 * time.Second // before a retry; a longer wait is reported to the client
	firstWait    = time.Second / 2  // before the first retry, doubled for each further one
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
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a redirect must not get credentials
	}}
	if o.Floats {
		u.format.Store(formatFloat)
	}
	return u
}

// embed requests the vectors of some inputs of a request.
func (u *upstream) embed(ctx context.Context, q *request, inputs []input, credentials http.Header) ([]Embedding, usage, error) {
	format := u.format.Load()
	body, err := u.persist(ctx, q.body(inputs, format != formatFloat), len(inputs), credentials)
	if refused, ok := errors.AsType[*upstreamError](err); ok && format == formatUnknown && (refused.status == http.StatusBadRequest || refused.status == http.StatusUnprocessableEntity) {
		if body, err = u.persist(ctx, q.body(inputs, false), len(inputs), credentials); err == nil {
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
		return nil, usage{}, &requestError{http.StatusBadGateway, "the upstream's answer cannot be right, so it is not cached: " + err.Error()}
	}
	return all, used, nil
}

// persist posts a body. It retries if the upstream certainly did not process the
// request, or reports a failure. It does not retry after a timeout, because the
// upstream may have computed and charged for the answer.
func (u *upstream) persist(ctx context.Context, body []byte, n int, credentials http.Header) ([]byte, error) {
	for try := 0; ; try++ {
		answer, err := u.post(ctx, body, n, credentials)
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

// waitFor returns how long to wait before a retry, and whether to retry.
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

// retryAfter returns the delay that the upstream requests.
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

// post makes one call when a slot is free.
func (u *upstream) post(ctx context.Context, body []byte, n int, credentials http.Header) ([]byte, error) {
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
	a, err := u.do(ctx, http.MethodPost, "/embeddings", body, credentials, int64(n+1)*maxPerVector)
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

// An answer is an answer of the upstream, success or error.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a call and reads its answer, of at most most bytes.
func (u *upstream) do(ctx context.Context, method, path string, body []byte, credentials http.Header, most int64) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, &requestError{http.StatusBadRequest, "the upstream has no such path"}
	}
	req.Header = credentials.Clone()
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
		most = maxRefusal
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

// trouble returns the reason for a missing answer, without the details that
// libraries add.
func (u *upstream) trouble(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if unreached := (*net.OpError)(nil); errors.As(err, &unreached) && unreached.Op == "dial" {
		return &unreachable{requestError{http.StatusBadGateway, "the upstream cannot be reached: " + unreached.Err.Error()}, unreached}
	}
	return &requestError{http.StatusBadGateway, "the upstream's answer is incomplete or not HTTP"}
}

// unreachable is a requestError of a call that never began.
type unreachable struct {
	requestError
	dial *net.OpError
}

func (e *unreachable) Unwrap() []error { return []error{&e.requestError, e.dial} }

// refusal returns the error of an answer without success.
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

// list requests the list of models.
func (u *upstream) list(ctx context.Context, path string, credentials http.Header) (*answer, error) {
	ctx, cancel := u.patience(ctx)
	defer cancel()
	a, err := u.do(ctx, http.MethodGet, path, nil, credentials, maxModels)
	if err == nil {
		err = a.refusal()
	}
	return a, err
}

// patience returns a context with the time limit for the upstream.
func (u *upstream) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, u.o.Timeout, &requestError{http.StatusGatewayTimeout, fmt.Sprintf("the upstream did not answer within %v", u.o.Timeout)})
}
