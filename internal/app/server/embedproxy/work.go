package embedproxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// work is a request in progress.
type work struct {
	*Handler
	request *request
	headers http.Header
	calls   []larder.Call[Embedding]   // one for each distinct input
	inputs  []input                    // of these
	at      []int                      // index of the call of each input of the request
	results []larder.Result[Embedding] // of calls

	mu    sync.Mutex
	used  usage
	asked map[int]bool // calls for which this request queried the upstream
}

// maxRounds bounds how often a request retries after failures of other requests.
const maxRounds = 8

// errAlone is the result of a call that must be made in a batch.
var errAlone = errors.New("the call must be made in a batch")

func (h *Handler) newWork(q *request, credentials http.Header) (*work, error) {
	op, err := q.op(&h.o)
	if err != nil {
		return nil, err
	}
	w := &work{Handler: h, request: q, headers: credentials, at: make([]int, len(q.inputs)), asked: map[int]bool{}}
	seen := map[key.Key]int{}
	for i, in := range q.inputs {
		a := op.Action(key.Input{Name: "input", Kind: in.kind, Ref: key.Content(key.DigestOf([]byte(in.text)))})
		at, ok := seen[a.Key()]
		if !ok {
			at = len(w.calls)
			seen[a.Key()] = at
			w.calls = append(w.calls, w.call(a, at))
			w.inputs = append(w.inputs, in)
		}
		w.at[i] = at
	}
	w.results = make([]larder.Result[Embedding], len(w.calls))
	return w, nil
}

// call returns the call with index at.
func (w *work) call(a *key.Action, at int) larder.Call[Embedding] {
	c := larder.Call[Embedding]{
		Action: a, Value: w.value, Share: true, // it is read-only
		Bytes:   func(e Embedding) int64 { return int64(len(e.Vector.Data) + len(e.Model) + 96) },
		Compute: func(context.Context) (Embedding, error) { return Embedding{}, errAlone },
	}
	if w.o.Larder.Verifying() { // verification runs one by one
		c.Compute = func(ctx context.Context) (e Embedding, err error) {
			all, err := w.ask(ctx, []int{at})
			if err == nil {
				e = all[0]
			}
			return e, err
		}
	}
	return c
}

// do finds all vectors, and requests the missing ones. When a batch fails, it
// starts no others; it waits for those in progress and stores their results.
func (w *work) do(ctx context.Context) error {
	all := make([]int, len(w.calls))
	for i := range all {
		all[i] = i
	}
	missing, err := w.find(ctx, all)
	if err != nil {
		return err
	}
	var failed atomic.Bool
	var g errgroup.Group
	g.SetLimit(w.o.Calls)
	for _, batch := range w.batches(missing) {
		g.Go(func() error {
			if failed.Load() {
				return nil // the relevant error is set
			}
			err := w.make(ctx, batch)
			failed.CompareAndSwap(false, err != nil)
			return err
		})
	}
	return g.Wait()
}

// find looks up cached results, and returns the calls without one.
func (w *work) find(ctx context.Context, calls []int) (missing []int, err error) {
	results, errs := w.batch(calls).Do(larder.CachedOnly(ctx), w.o.Larder)
	for i, at := range calls {
		switch {
		case errs == nil || errs[i] == nil:
			w.results[at] = results[i]
			if results[i].From == larder.FromStore && w.o.Larder.Verifies(results[i].Key) {
				if err := w.calls[at].Check(ctx, w.o.Larder, results[i]); err != nil {
					return nil, err
				}
			}
		case errors.Is(errs[i], larder.ErrNotCached):
			missing = append(missing, at)
		default:
			return nil, errs[i]
		}
	}
	return missing, nil
}

func (w *work) batch(calls []int) larder.Batch[Embedding] {
	var b larder.Batch[Embedding]
	for _, at := range calls {
		b.Calls = append(b.Calls, w.calls[at])
	}
	return b
}

// batches divides calls into batches for the upstream.
func (w *work) batches(calls []int) (all [][]int) {
	bytes := 0
	for _, at := range calls {
		size := w.inputs[at].size()
		last := len(all) - 1
		if last < 0 || len(all[last]) == w.o.Batch || bytes+size > w.o.BatchBytes {
			all, last, bytes = append(all, nil), last+1, 0
		}
		all[last] = append(all[last], at)
		bytes += size
	}
	return all
}

// make requests some vectors from the upstream. It waits for those that other
// requests are already requesting, and requests them itself if the other request
// failed for a reason of its own.
func (w *work) make(ctx context.Context, calls []int) error {
	for round := 0; ; round++ {
		b := w.batch(calls)
		b.Compute = func(ctx context.Context, missing []int) ([]Embedding, error) {
			at := make([]int, len(missing))
			for i, m := range missing {
				at[i] = calls[m]
			}
			return w.ask(ctx, at)
		}
		results, errs := b.Do(ctx, w.o.Larder)
		var again []int
		for i, at := range calls {
			switch {
			case errs == nil || errs[i] == nil:
				w.results[at] = results[i]
			case round < maxRounds && w.ofOthers(errs[i]):
				again = append(again, at)
			default:
				return w.reported(errs[i])
			}
		}
		if len(again) == 0 {
			return nil
		}
		calls = again
	}
}

// ofOthers reports whether a call failed for a reason that may not apply to this
// request: credentials, or another input of the same batch.
func (w *work) ofOthers(err error) bool {
	if errors.Is(err, errAlone) {
		return true
	}
	failed, ok := errors.AsType[*callError](err)
	if !ok || failed.by == w {
		return false
	}
	refused, ok := errors.AsType[*upstreamError](err)
	return ok && refused.status < http.StatusInternalServerError
}

// reported returns the error for the client. It hides the upstream's message to another
// client.
func (w *work) reported(err error) error {
	if errors.Is(err, errAlone) {
		return &requestError{http.StatusServiceUnavailable, "others ask for the same inputs and fail again and again: try again"}
	}
	failed, ok := errors.AsType[*callError](err)
	if !ok {
		return err
	}
	if refused, ok := errors.AsType[*upstreamError](err); ok && failed.by != w {
		return &requestError{refused.status, "the upstream failed when another client asked it for the same input: " + http.StatusText(refused.status)}
	}
	return failed.err
}

// ask requests some calls from the upstream.
func (w *work) ask(ctx context.Context, calls []int) ([]Embedding, error) {
	inputs := make([]input, len(calls))
	for i, at := range calls {
		inputs[i] = w.inputs[at]
	}
	all, used, err := w.upstream.embed(ctx, w.request, inputs, w.headers)
	if err != nil {
		return nil, &callError{w, err}
	}
	w.metrics.tokens.Add(used.PromptTokens)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used.PromptTokens += used.PromptTokens
	w.used.TotalTokens += used.TotalTokens
	for _, at := range calls {
		w.asked[at] = true
	}
	return all, nil
}

// count counts the origins of the vectors, and returns how many inputs were
// requested from the upstream.
func (w *work) count() (asked int) {
	first := make([]bool, len(w.calls))
	for _, at := range w.at {
		r := w.results[at]
		switch {
		case first[at]:
			w.metrics.shared.Add(1)
			continue
		case w.asked[at]:
			w.metrics.misses.Add(1)
			asked++
		case r.From == larder.FromMemory:
			w.metrics.memory.Add(1)
		case r.From == larder.FromStore:
			w.metrics.store.Add(1)
		default:
			w.metrics.shared.Add(1)
		}
		if first[at] = true; !w.asked[at] {
			w.metrics.saved.Add(int64(r.Cost / time.Nanosecond))
		}
	}
	return asked
}
