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

// A Call describes a running call to its waiters.
type Call struct {
	Name  string
	Key   any       // the first, if there are several
	Scope any       // of its group
	Since time.Time // when it began

	others func() map[any]bool // keys of a call for several; computed on demand

	// guarded by the graph's mutex
	from   *Call          // call for which it was begun, or nil
	labels unsafe.Pointer // of its goroutines
	number uint64
	waits  map[*Call]int // number of its goroutines that wait for a call
	ended  bool
}

// graph has the relations between running calls. It finds a call by the profiler labels
// of a goroutine, which each goroutine inherits from the one that starts it. If a
// program has replaced the labels, it finds the call by the goroutine: see origin.
var graph = struct {
	sync.Mutex
	calls    map[unsafe.Pointer]*Call // by the labels of their goroutines
	numbered map[uint64]*Call
	last     uint64 // last number
}{calls: map[unsafe.Pointer]*Call{}, numbered: map[uint64]*Call{}}

// A CycleError is returned to a caller that works for a call and requests a call that
// waits for it.
type CycleError struct {
	Path []string // names of calls, each waiting for the next, from one to itself
}

func (e *CycleError) Error() string {
	return "calls wait for each other: " + strings.Join(e.Path, " -> ")
}

// ContextKey is the key of a context's [Call].
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

// Around returns the running call of ctx, and those that wait for it, directly or not:
// one for each key.
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

// through lists the names of the calls between from and c, and one more.
func (c *Call) through(from *Call, name string) []string {
	path := []string{name}
	for ; c != from; c = c.from {
		path = append(path, c.Name)
	}
	path = append(path, from.Name)
	slices.Reverse(path)
	return path
}

// wait records that a goroutine of c waits for another call, until waited is called.
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

// path returns the names of the calls from c to another one that wait for each other,
// or nil.
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

// goroutineLabels returns the profiler labels of the goroutine, which identify the
// goroutines of a call. Package runtime/pprof documents that a goroutine inherits the
// labels of the one that started it. It has no function that returns them.
//
//go:linkname goroutineLabels runtime/pprof.runtime_getProfLabel
func goroutineLabels() unsafe.Pointer
