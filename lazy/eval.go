package lazy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// An Evaluation has options for evaluating a value.
type Evaluation struct {
	// Pool bounds the number of nodes computed concurrently; nil means one per
	// processor.
	Pool *pool.Pool
	// Progress is called whenever a node is done, by one goroutine at a time. It must
	// be quick.
	Progress func(Progress)
}

// Progress is the state of an evaluation.
type Progress struct {
	Node     string // function of the node that is done
	From     larder.From
	Computed int // nodes computed
	Loaded   int // nodes found in memory or in the store
	Waiting  int // nodes known to be needed and not done
}

// get evaluates a node for a caller.
func (e Evaluation) get(ctx context.Context, l *larder.Larder, n *node) (any, error) {
	if n.constant() && n.err == nil {
		v, _ := n.copy(n.value)
		return v, nil
	}
	b := builder{ctx: ctx, larder: l}
	if err := b.name(n); err != nil {
		return nil, err
	}
	if err := analysis.CheckUnchanged(); err != nil {
		return nil, err
	}
	v := &evaluator{Evaluation: e, larder: l, computations: 1}
	if n.fn == nil || n.fn.options.Keep == KeepNot {
		return v.run(ctx, n, nil)
	}
	// Most roots are cached; those need no scheduler.
	a := b.made
	if a == nil || a.Key() != n.action.Load().key {
		var err error
		if a, err = b.action(n); err != nil {
			return nil, err
		}
	}
	t := &task{node: n, action: a}
	done, err := v.find(ctx, t, true)
	if err != nil {
		return nil, err
	}
	v.looked = v.computations
	if !done {
		return v.run(ctx, n, t)
	}
	v.count.Waiting++
	v.progress(t)
	larder.AddDependencies(ctx, t.reads...)
	return t.value, nil
}

// An evaluator evaluates one root. Each needed node is a task; nodes with equal keys
// are one task. A task has three states: its key is known, its arguments are known, its
// value is known. A bounded number of workers take tasks from a stack. So the order is
// depth first, and neither the depth nor the size of the tree uses Go stack.
type evaluator struct {
	Evaluation
	larder *larder.Larder

	mu    sync.Mutex
	wake  *sync.Cond
	stack []*task
	tasks map[key.Key]*task
	loans sync.Map // *borrowed of values that cannot be watched, by address
	root  *task
	err   error
	count Progress

	computations int // number of ended computations, plus 1
	looked       int // their number when the last close lookup began
}

// task is a node to evaluate.
type task struct {
	node   *node
	action *key.Action
	args   []*task // tasks of the arguments; nil for constants
	// guarded by the evaluator's mutex
	opened  bool // its arguments are tasks
	missing int  // arguments that are not done
	users   []*task
	uses    int // users that have not taken the value
	done    bool
	freed   bool // it was done, and its value is released

	value    any
	borrowed lending
	uncached error // why it is not cached; nil if it is
	reads    []larder.Read
	digest   key.Digest // of the value, once needed
	from     larder.From
	once     sync.Once
	failed   error
}

// run evaluates a node with an identity. If root is given, it is the node's task, and
// its value is not cached.
func (v *evaluator) run(ctx context.Context, n *node, root *task) (any, error) {
	v.tasks, v.wake = map[key.Key]*task{}, sync.NewCond(&v.mu)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v.mu.Lock()
	if v.root = root; root != nil {
		v.tasks[n.action.Load().key] = root
		v.count.Waiting++
		v.root.uses++
		v.open(ctx, root)
	} else {
		var err error
		if v.root, err = v.task(ctx, n); err != nil {
			v.mu.Unlock()
			return nil, err
		}
		v.root.uses++
		v.stack = append(v.stack, v.root)
	}
	v.mu.Unlock()
	v.work(ctx, cancel)
	if v.err != nil {
		return nil, v.err
	}
	larder.AddDependencies(ctx, v.root.reads...)
	return v.root.value, nil
}

// work runs the workers until all tasks are done or one fails.
func (v *evaluator) work(ctx context.Context, cancel context.CancelCauseFunc) {
	stop := context.AfterFunc(ctx, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.fail(context.Cause(ctx))
	})
	defer stop()
	var wg sync.WaitGroup
	for range v.Pool.Workers() {
		wg.Go(func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			for v.err == nil && !v.root.done {
				if len(v.stack) == 0 {
					v.wake.Wait()
					continue
				}
				v.next(ctx)
			}
			if v.err != nil {
				cancel(v.err)
			}
			v.wake.Broadcast()
		})
	}
	wg.Wait()
}

func (v *evaluator) fail(err error) {
	if v.err == nil && !v.root.done {
		v.err = err
	}
	v.wake.Broadcast()
}

// task returns the task of a node, and creates it if needed.
func (v *evaluator) task(ctx context.Context, n *node) (*task, error) {
	k := n.action.Load().key
	if t, ok := v.tasks[k]; ok {
		return t, nil
	}
	if n.hole != nil {
		return nil, errOutside
	}
	a, err := (&builder{ctx: ctx, larder: v.larder}).action(n)
	if err != nil {
		return nil, err
	}
	t := &task{node: n, action: a}
	v.tasks[k] = t
	v.count.Waiting++
	return t, nil
}

// next runs one step of the task on top of the stack. The caller holds the mutex, which
// next releases while it works.
func (v *evaluator) next(ctx context.Context) {
	t := v.stack[len(v.stack)-1]
	v.stack = v.stack[:len(v.stack)-1]
	if t.done {
		return
	}
	now, closely := v.computations, v.closely(ctx, t)
	v.mu.Unlock()
	var err error
	find, done := !t.opened, true
	if find {
		done, err = v.find(ctx, t, closely)
	} else {
		err = v.Pool.Do(ctx, func(ctx context.Context) error { return v.compute(ctx, t) })
	}
	v.mu.Lock()
	if !find {
		v.computations++
	} else if closely {
		v.looked = max(v.looked, now)
	}
	switch {
	case err != nil:
		v.fail(err)
	case done:
		v.finish(t)
	default:
		v.open(ctx, t)
	}
}

// closely reports whether a miss must also consider the latest records of other
// processes. A computation whose inputs are identified by content does so itself after
// it has the lease. On the path from node to node, where nothing is computed, one such
// lookup is enough.
func (v *evaluator) closely(ctx context.Context, t *task) bool {
	return larder.IsCachedOnly(ctx) || v.looked < v.computations && !t.action.Resolved()
}

func (v *evaluator) find(ctx context.Context, t *task, closely bool) (bool, error) {
	f := t.node.fn
	if f.options.Keep == KeepNot {
		return false, nil
	}
	o, ok := f.cached.find(ctx, v.larder, t.call(nil, nil), closely)
	if !ok {
		return false, context.Cause(ctx)
	}
	t.take(o)
	if o.from == larder.FromStore && v.larder.Verifies(o.key) {
		return true, v.check(ctx, t, o)
	}
	return true, nil
}

func (t *task) take(o outcome) {
	t.value, t.from, t.reads, t.uncached = o.value, o.from, o.reads, o.uncached
	if t.uncached != nil {
		t.borrowed.see(t.value) // before other goroutines have it
	}
}

func (t *task) call(compute func(context.Context) (any, error), resolve func(context.Context) ([]key.Input, error)) call {
	return call{action: t.action, compute: compute, resolve: resolve, memory: t.node.fn.options.Keep == KeepInMemory}
}

func (v *evaluator) open(ctx context.Context, t *task) {
	t.opened = true
	t.args = make([]*task, len(t.node.args))
	for i, n := range t.node.args {
		if n.constant() {
			continue
		}
		a, err := v.task(ctx, n)
		if err != nil {
			v.fail(err)
			return
		}
		t.args[i] = a
		a.uses++
		if a.freed {
			a.done, a.opened, a.freed = false, false, false
			v.count.Waiting++
		}
		if a.done {
			continue
		}
		t.missing++
		a.users = append(a.users, t)
		if len(a.users) == 1 && a != v.root {
			v.stack = append(v.stack, a)
		}
	}
	if t.missing == 0 {
		v.stack = append(v.stack, t)
	}
	v.wake.Broadcast()
}

// finish passes a value to the tasks that wait for it.
func (v *evaluator) finish(t *task) {
	t.done = true
	for _, u := range t.users {
		if u.missing--; u.missing == 0 {
			v.stack = append(v.stack, u)
		}
	}
	t.users = nil
	for _, a := range t.args {
		if a != nil {
			// A large value that no task needs now is released if it can be found
			// again.
			if a.uses--; a.uses == 0 && a.node.fn.options.Keep == KeepOnDisk && a.uncached == nil {
				a.value, a.freed = nil, true
			}
		}
	}
	v.progress(t)
	v.wake.Broadcast()
}

func (v *evaluator) progress(t *task) {
	v.count.Waiting--
	if t.from == larder.Computed {
		v.count.Computed++
	} else {
		v.count.Loaded++
	}
	if v.Progress != nil {
		p := v.count
		p.Node, p.From = t.node.fn.name, t.from
		v.Progress(p)
	}
}

func (v *evaluator) compute(ctx context.Context, t *task) error {
	f := t.node.fn
	if f.options.Keep == KeepNot {
		return v.invokeOnly(ctx, t)
	}
	o, err := f.cached.do(ctx, v.larder, t.call(
		func(ctx context.Context) (any, error) { return v.invoke(ctx, t) },
		func(ctx context.Context) ([]key.Input, error) { return t.resolve(ctx) }))
	if err != nil {
		return t.fail(err)
	}
	t.take(o)
	return nil
}

func (t *task) fail(err error) error {
	return fmt.Errorf("lazy: %s: %w", t.node.fn.name, err)
}

// invokeOnly computes a value that is not cached. It depends on all dependencies of its
// arguments.
func (v *evaluator) invokeOnly(ctx context.Context, t *task) error {
	value, reads, err := larder.WithReads(ctx, func(ctx context.Context) (any, error) {
		for _, a := range t.args {
			if a != nil {
				a.note(ctx)
			}
		}
		return singleflight.Protect(func() (any, error) { return v.invoke(ctx, t) })
	})
	if cause := context.Cause(ctx); cause != nil {
		return t.fail(cause) // after that, a function may return half a value
	}
	if err != nil && !errors.Is(err, larder.ErrInputChanged) {
		return t.fail(err)
	}
	t.take(outcome{value: value, from: larder.Computed, reads: reads, uncached: err})
	return nil
}

// note records the dependencies of argument t for the computation around ctx.
func (t *task) note(ctx context.Context) {
	larder.AddDependencies(ctx, t.reads...)
	if errors.Is(t.uncached, larder.ErrInputChanged) {
		larder.NoStore(ctx, t.uncached)
	}
}

// invoke calls the function on arguments of its own.
func (v *evaluator) invoke(ctx context.Context, t *task) (any, error) {
	args, loans := make([]any, len(t.node.args)), make([]*borrowed, len(t.node.args))
	for i := range args {
		args[i], loans[i] = v.argument(t, i)
		if a := t.args[i]; a != nil && errors.Is(a.uncached, larder.ErrInputChanged) {
			larder.NoStore(ctx, a.uncached)
		}
	}
	defer v.giveBack(ctx, t, args, loans)
	value, err := t.node.fn.call(ctx, v, args)
	if err != nil {
		return value, err
	}
	return t.own(value, loans), nil
}

// resolve names the arguments by their contents, and notes what they were made
// from.
func (t *task) resolve(ctx context.Context) ([]key.Input, error) {
	inputs := make([]key.Input, 0, len(t.args))
	for _, in := range t.action.Inputs() {
		if strings.HasPrefix(in.Name, methodsOf) {
			inputs = append(inputs, in)
		}
	}
	for i, n := range t.node.args {
		a := t.args[i]
		if a == nil {
			if id := n.action.Load(); !id.value.IsZero() {
				inputs = append(inputs, key.Input{Name: argument(i), Ref: key.Content(id.value), Kind: constantKind})
			}
			continue
		}
		a.note(ctx)
		d, err := a.content(ctx)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, key.Input{Name: argument(i), Ref: key.Content(d), Kind: n.kind()})
	}
	return inputs, nil
}

// content is the digest of the value of a task that is done. A value that
// cannot be encoded is named by how it was made: by the function and the
// contents of its arguments.
func (t *task) content(ctx context.Context) (key.Digest, error) {
	t.once.Do(func() {
		t.digest, t.failed = t.node.fn.cached.digest(t.value)
		if t.failed == nil {
			return
		}
		inputs, err := t.resolve(ctx)
		if t.failed = err; err == nil {
			k := t.action.WithInputs(inputs).Key()
			t.digest = key.DigestOf(k[:])
		}
	})
	return t.digest, t.failed
}

// check computes a value that was found again, with all that it needs.
func (v *evaluator) check(ctx context.Context, t *task, o outcome) error {
	return t.node.fn.cached.check(ctx, v.larder, t.call(func(ctx context.Context) (any, error) {
		again := &task{node: t.node, action: t.action, args: make([]*task, len(t.node.args))}
		for i, n := range t.node.args {
			if !n.constant() {
				value, err := v.get(ctx, v.larder, n)
				if err != nil {
					return nil, err
				}
				again.args[i] = &task{node: n, value: value}
			}
		}
		return v.invoke(ctx, again)
	}, nil), o)
}
