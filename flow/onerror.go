package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/order"
)

// OnError says what happens to samples that a node cannot compute.
//
// A node that skips samples computes all of them before any other node reads
// it, and caches the results; a source reads and decodes every item. The next
// run tries skipped samples again.
type OnError struct {
	Skip    bool    // continue without the sample; otherwise the run fails
	Most    int     // maximum number of samples, if > 0
	Percent float64 // maximum share of the node's samples, if > 0
}

// ErrTooManySkipped is the error of a node that would skip more samples than
// allowed, or all.
var ErrTooManySkipped = errors.New("too many samples were skipped")

const onErrorForm = "fail, skip, N or P% of the samples"

// ParseOnError parses fail, skip, a number of samples, or a share such as 5%.
func ParseOnError(text string) (OnError, error) {
	switch text {
	case "fail":
		return OnError{}, nil
	case "skip":
		return OnError{Skip: true}, nil
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		if p, err := strconv.ParseFloat(share, 64); err == nil && p > 0 && p <= 100 {
			return OnError{Skip: true, Percent: p}, nil
		}
	} else if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return OnError{Skip: true, Most: n}, nil
	}
	return OnError{}, fmt.Errorf("%q is not one of %s, with N of 1 or more and P from above 0 to 100", text, onErrorForm)
}

// String returns a string that [ParseOnError] accepts.
func (o OnError) String() string {
	switch {
	case !o.Skip:
		return "fail"
	case o.Most > 0:
		return strconv.Itoa(o.Most)
	case o.Percent > 0:
		return strconv.FormatFloat(o.Percent, 'g', -1, 64) + "%"
	}
	return "skip"
}

func (o OnError) most(n int) int {
	switch {
	case !o.Skip:
		return 0
	case o.Most > 0:
		return o.Most
	case o.Percent > 0:
		return int(o.Percent / 100 * float64(n))
	}
	return n
}

// onError reads fail, skip, {skip: N} or {skip: P%}.
func (p *parser) onError(f field) *OnError {
	text := f.value.Value
	if f.value.Kind == yaml.MappingNode {
		for _, g := range p.fields(f.value, "on-error") {
			if g.key.Value != "skip" {
				p.unknown(g.key, "on-error", []string{"skip"})
				return nil
			}
			text = g.value.Value
		}
	}
	o, err := ParseOnError(text)
	if err != nil {
		p.at(f.value, "on-error must be fail, skip, {skip: N} or {skip: P%%}: %v", err)
		return nil
	}
	return &o
}

// skips returns how a node handles samples that it cannot compute. Before the samples of a
// node are computed in ranges, none is skipped.
func (r *run) skips(s *state) OnError {
	if !s.makes() || r.ranges && s.stage >= r.stage {
		return OnError{}
	}
	return r.onError(s)
}

// onError returns the option of a node or that of the run.
func (r *run) onError(s *state) OnError {
	if s.Options.OnError != nil {
		return *s.Options.OnError
	}
	return r.OnError
}

// makes reports whether a node computes samples rather than only reordering
// them.
func (n *Node) makes() bool {
	k := n.Component.Kind
	return k == component.Source || k == component.Map || n.Component.Maps
}

// A Skip is a skipped sample.
type Skip struct {
	Node   string `json:"node"`
	Sample int    `json:"sample"` // its position in the node's dataset
	Error  string `json:"error"`
}

// WriteSkips writes the skipped samples as JSON, one per line.
func (r *Report) WriteSkips(w io.Writer) error {
	e := json.NewEncoder(w)
	for _, s := range r.Skips {
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// skipFailing computes all samples of a node, and leaves out those that fail.
func (r *run) skipFailing(ctx context.Context, s *state) error {
	o := r.skips(s)
	if !o.Skip || larder.IsCachedOnly(ctx) {
		return nil
	}
	total := count(s.data)
	s.stats.Total.Store(total)
	filter := &failureFilter{run: r, state: s, most: o.most(int(total))}
	for i, part := range s.data.Parts {
		bad, err := filter.part(ctx, s.place(s.data.Names, i), part, 0, part.Len())
		if err != nil {
			return err
		}
		if len(bad) == 0 {
			continue
		}
		good := make([]int, 0, part.Len()-len(bad))
		for k := range part.Len() {
			if _, is := slices.BinarySearch(bad, k); !is {
				good = append(good, k)
			}
		}
		o, err := order.Index(part.Len(), good)
		if err != nil {
			return err
		}
		s.data.Parts[i] = dataset.Reorder(part, o)
	}
	s.samples = count(s.data)
	if total > 0 && s.samples == 0 {
		return fmt.Errorf("%w: all %d; the first: %s", ErrTooManySkipped, total, s.skipped[0].Error)
	}
	if s.Component.Kind != component.Source {
		r.settle(s)
	}
	return nil
}

// A failureFilter computes samples and records failures.
type failureFilter struct {
	run   *run
	state *state
	most  int

	mu sync.Mutex
}

// part returns the positions of the samples in a range of one dataset that cannot be
// computed, in order.
func (v *failureFilter) part(ctx context.Context, place string, part component.Samples, from, to int) (bad []int, err error) {
	before := len(v.state.skipped)
	ranges := dataset.RangesOf(part)
	err = v.run.pool(v.state.Node).AtLeast(dataset.BatchOf(part)).Ranges(ctx, to-from, func(ctx context.Context, i, j int) (int, error) {
		i, j = from+i, from+j
		samples, err := ranges.Range(ctx, i, j)
		for k, s := range samples {
			if merr := v.make(ctx, s); merr != nil {
				if serr := v.skip(ctx, place, i+k, merr); serr != nil {
					return k, serr
				}
			}
			v.state.stats.Done.Add(1)
		}
		if err == nil {
			return len(samples), nil
		}
		v.state.stats.Done.Add(1)
		return len(samples) + 1, v.skip(ctx, place, i+len(samples), err)
	})
	own := v.state.skipped[before:]
	slices.SortFunc(own, func(a, b Skip) int { return a.Sample - b.Sample })
	for _, s := range own {
		bad = append(bad, s.Sample)
	}
	return bad, err
}

func (v *failureFilter) make(ctx context.Context, s dataset.Sample) error {
	for _, e := range s.Executions() {
		if err := e.Make(ctx); err != nil {
			return err
		}
	}
	if v.state.Component.Kind != component.Source {
		return nil
	}
	for f := range s.Fields() {
		if _, err := f.Item.Value(ctx); err != nil {
			return fmt.Errorf("item %s: %w", display.Name(f.Key), err)
		}
	}
	return nil
}

// skip records a skipped sample. It returns err if the sample is not its cause,
// or if too many were skipped.
func (v *failureFilter) skip(ctx context.Context, place string, i int, err error) error {
	if ctx.Err() != nil || errors.Is(err, dataset.ErrChanged) || errors.Is(err, context.Canceled) {
		return err
	}
	why := err
	if at := (*dataset.SampleError)(nil); errors.As(err, &at) && at.Node == place && at.Index == i {
		why = at.Err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.skipped = append(v.state.skipped, Skip{place, i, display.Error(why)})
	if n := len(v.state.skipped); n > v.most {
		return fmt.Errorf("%w: %d, but on-error allows %d; the last: %w", ErrTooManySkipped, n, v.most, err)
	}
	return nil
}
