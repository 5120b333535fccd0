package singleflight

import (
	"context"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// A Call is a call under way, as those see it who wait for each other.
type Call struct {
	Name  string
	Key   any       // the first, of several
	Scope any       // of its group
	Since time.Time // when it was begun

	others func() map[any]bool // keys, of a call for several; made when somebody asks, as few do

	// guarded by the graph's mutex
	from   *Call          // for which it was begun, or nil
	labels unsafe.Pointer // of its goroutines
	number uint64
	waits  map[*Call]int // calls that its goroutines wait for, and how many
	ended  bool
}

// graph guards what calls say of each other. Those under way are found by the
// labels that the profiler puts on goroutines, which are handed on to each
// goroutine that is started; and where a program has put other labels in their
// place, by the goroutines themselves: see origin.
var graph = struct {
	sync.Mutex
	calls    map[unsafe.Pointer]*Call // by the labels of their goroutines
	numbered map[uint64]*Call
	last     uint64 // number
}{calls: map[unsafe.Pointer]*Call{}, numbered: map[uint64]*Call{}}

// A CycleError is returned to those who ask, on behalf of a call, for one that
// waits for it.
type CycleError struct {
	Path []string // names of calls, each waiting for the next, from one to itself
}

func (e *CycleError) Error() string {
	return "calls wait for each other: " + strings.Join(e.Path, " -> ")
}

// ContextKey is the key under which a context has its [Call].
type ContextKey struct{}

// begin marks the context and the goroutine of a call.
func (c *Call) begin(ctx context.Context) context.Context {
	ctx = context.WithValue(pprof.WithLabels(ctx, pprof.Labels("larder", c.Name)), ContextKey{}, c)
	pprof.SetGoroutineLabels(ctx)
	graph.Lock()
	defer graph.Unlock()
	graph.last++
	c.labels, c.number = goroutineLabels(), graph.last
	graph.calls[c.labels], graph.numbered[c.number] = c, c
	return ctx
}

func (c *Call) end() {
	graph.Lock()
	defer graph.Unlock()
	delete(graph.calls, c.labels)
	delete(graph.numbered, c.number)
	c.ended = true
}

// current returns the call for which the caller works, or nil.
func current(ctx context.Context) *Call {
	c, _ := ctx.Value(ContextKey{}).(*Call)
	labels := goroutineLabels()
	if c == nil && labels == nil {
		return nil
	}
	graph.Lock()
	defer graph.Unlock()
	if c == nil || c.ended {
		c = graph.calls[labels]
	}
	return c
}

// Around returns the call under way that ctx is of, and those that wait for it,
// directly or not: one for each key.
func Around(ctx context.Context) []Call {
	of := current(ctx)
	if of == nil {
		return nil
	}
	graph.Lock()
	defer graph.Unlock()
	var all []Call
	for _, c := range graph.calls {
		if c.path(of) != nil {
			for k := range c.keys {
				all = append(all, Call{Name: c.Name, Key: k, Scope: c.Scope, Since: c.Since})
			}
		}
	}
	return all
}

// keys yields the keys that it is for.
func (c *Call) keys(yield func(any) bool) {
	if !yield(c.Key) {
		return
	}
	if c.others == nil {
		return
	}
	for k := range c.others() {
		if !yield(k) {
			return
		}
	}
}

// within returns an error if c, or a call for which it was begun, is one for k.
func (c *Call) within(scope, k any, name string) error {
	if c == nil {
		return nil
	}
	graph.Lock()
	defer graph.Unlock()
	for of := c; of != nil; of = of.from {
		if of.Scope == scope && (of.Key == k || of.others != nil && of.others()[k]) {
			if of.ended {
				return nil
			}
			return &CycleError{c.through(of, name)}
		}
	}
	return nil
}

// through lists the names of the calls from one for which c was begun up to c, and one more.
func (c *Call) through(from *Call, name string) []string {
	path := []string{name}
	for ; c != from; c = c.from {
		path = append(path, c.Name)
	}
	path = append(path, from.Name)
	slices.Reverse(path)
	return path
}

// wait notes that a goroutine of c waits for another call, until waited.
func (c *Call) wait(other *Call) error {
	if c == nil {
		return nil
	}
	graph.Lock()
	defer graph.Unlock()
	if path := other.path(c); path != nil {
		return &CycleError{append([]string{c.Name}, path...)}
	}
	if c.waits == nil {
		c.waits = map[*Call]int{}
	}
	c.waits[other]++
	return nil
}

// began notes that c began another call.
func (c *Call) began(other *Call) {
	graph.Lock()
	defer graph.Unlock()
	if other.from == nil && other != c {
		other.from = c
	}
}

func (c *Call) waited(other *Call) {
	if c == nil {
		return
	}
	graph.Lock()
	defer graph.Unlock()
	if c.waits[other]--; c.waits[other] == 0 {
		delete(c.waits, other)
	}
}

// path returns the names of calls that wait for each other, from c to another
// one, or nil.
func (c *Call) path(to *Call) []string {
	type step struct {
		call *Call
		back *step
	}
	seen := map[*Call]bool{c: true}
	for queue := []*step{{c, nil}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.call == to {
			var names []string
			for ; at != nil; at = at.back {
				names = append(names, at.call.Name)
			}
			slices.Reverse(names)
			return names
		}
		for next := range at.call.waits {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, &step{next, at})
			}
		}
	}
	return nil
}

// goroutineLabels returns what tells apart the goroutines of calls: the labels
// that the profiler keeps of each. That every goroutine has those of the one
// that started it is what package runtime/pprof documents; only reading them
// back has no function of its own there.
//
//go:linkname goroutineLabels runtime/pprof.runtime_getProfLabel
func goroutineLabels() unsafe.Pointer
