package lazy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/source"
)

// Options say how a function is known and its results are kept. The zero value
// serves.
type Options struct {
	// Version identifies the code: its author changes it whenever results
	// change. Empty means by source or, failing that, by the executable.
	Version string
	// Build identifies the code by the executable even if its package registers
	// its sources. It is for code that reaches what cannot be seen.
	Build bool
	// Pure lists what the code may reach although it is impure or unknown: see
	// source.Options.
	Pure []string
	// Captured holds, by name, the values of all variables that a function literal
	// captures. They become part of the key. The package must register its sources,
	// as nothing else tells whether one was forgotten.
	Captured map[string]any
	// Keep says where results are kept.
	Keep Keep
	// Eager, if not nil, has each call computed when it is made, with its
	// results kept there. An error shows when the value is asked for.
	Eager *larder.Larder
}

// Keep says where results of a function are kept.
type Keep int

// Where results are kept.
const (
	KeepOnDisk   Keep = iota // in the store
	KeepInMemory             // in the cache of this process
	KeepNot                  // nowhere: computed whenever something made of it has to be
)

// A function is a Go function with its types forgotten.
type function struct {
	name    string
	options Options
	value   any // the Go function
	builtin bool
	err     error
	// of functions of this package that get some of their arguments lazily:
	// trees that belong to what they are
	trees  []*node
	params []key.Param // more that it is made of

	invoke func(ctx context.Context, e *evaluator, args []any) (any, error)
	kept   keeper

	mu      sync.Mutex
	op      *key.Op
	closure *source.Closure // if it is known by its source
}

// keeper knows the type of a function's results.
type keeper interface {
	do(ctx context.Context, l *larder.Larder, c call) (outcome, error)
	find(ctx context.Context, l *larder.Larder, c call, closely bool) (outcome, bool)
	check(ctx context.Context, l *larder.Larder, c call, o outcome) error
	keepable() error // whether results can be kept, as far as the type tells
	copy(v any) (any, bool)
	digest(v any) (key.Digest, error)
	kind() string // the codec
}

// call is one use of a function.
type call struct {
	action  *key.Action
	compute func(context.Context) (any, error)
	resolve func(context.Context) ([]key.Input, error)
	memory  bool
}

// outcome is a result on its way to those who need it.
type outcome struct {
	value  any
	from   larder.From
	key    key.Key
	reads  []larder.Read
	unkept error // why it is not kept, if it is not
}

// newFunction describes a Go function f whose results are Rs.
func newFunction[R any](name string, f any, o []Options, invoke func(ctx context.Context, args []any) (R, error)) *function {
	fn := &function{
		name: name, value: f, kept: results[R]{},
		invoke: func(ctx context.Context, _ *evaluator, args []any) (any, error) { return invoke(ctx, args) },
	}
	if len(o) > 0 {
		fn.options = o[0]
	}
	if name == "" {
		fn.err = fmt.Errorf("lazy: a function of type %T has no name", f)
	} else if reflect.ValueOf(f).IsNil() {
		fn.err = fmt.Errorf("lazy: %s: the function is nil", name)
	}
	return fn
}

// newBuiltin describes a function of this package: cheap, and not kept.
func newBuiltin[R any](name string, invoke func(ctx context.Context, e *evaluator, args []any) (R, error), params ...key.Param) *function {
	return &function{
		name: name, builtin: true, options: Options{Keep: KeepNot}, kept: results[R]{}, params: params,
		invoke: func(ctx context.Context, e *evaluator, args []any) (any, error) { return invoke(ctx, e, args) },
	}
}

// operation returns the fixed part of the function's actions. It is found once
// and then known.
func (f *function) operation(ctx context.Context, l *larder.Larder) (*key.Op, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.op != nil {
		return f.op, nil
	}
	if f.err != nil {
		return nil, f.err
	}
	if f.options.Keep != KeepNot {
		if err := f.kept.keepable(); err != nil {
			return nil, fmt.Errorf("lazy: %s: %w; return another type, or do not keep its results (KeepNot)", f.name, err)
		}
	}
	op, err := f.identify(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("lazy: %s: %w", f.name, err)
	}
	f.op = op
	return op, nil
}

func (f *function) identify(ctx context.Context, l *larder.Larder) (*key.Op, error) {
	if f.builtin {
		return f.identifyBuiltin(ctx, l)
	}
	fn, err := source.FunctionOf(f.value)
	if err != nil {
		return nil, err
	}
	code, err := f.code(ctx, l, fn)
	if err != nil {
		return nil, err
	}
	types := source.TypeText(reflect.TypeOf(f.value))
	params := []key.Param{{Name: "types", Value: types}, {Name: "package", Value: fn.Package}}
	switch code.Kind {
	case "build", string(source.Program):
		params = append(params, key.Param{Name: "function", Value: fn.Symbol})
	case "version":
		if err := claim(fmt.Sprintf("%s %q %s %s", fn.Package, f.name, types, code), fmt.Sprintf("%s:%d", fn.File, fn.Line)); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.options.Captured)) {
		params = append(params, key.Param{Name: "captured " + name, Value: f.options.Captured[name]})
	}
	return key.NewOp(f.name, code, append(params, f.params...)...)
}

func (f *function) identifyBuiltin(ctx context.Context, l *larder.Larder) (*key.Op, error) {
	b := builder{ctx: ctx, larder: l}
	var names []key.Key
	params := f.params
	for i, t := range f.trees {
		if err := b.name(t); err != nil {
			return nil, err
		}
		id := t.action.Load().key
		if t.constant() {
			d, err := key.Of(t.value)
			if err != nil {
				return nil, err
			}
			id = key.Key(d)
			methods, err := larder.MethodsOf(ctx, l, t.value)
			if err != nil {
				return nil, err
			}
			if methods != "" {
				params = append(slices.Clip(params), key.Param{Name: fmt.Sprint(methodsOf, "tree ", i), Value: methods})
			}
		}
		names = append(names, id)
	}
	return key.NewOp(f.name, key.Version("1"), append([]key.Param{{Name: "trees", Value: names}}, params...)...)
}

// code identifies the function's code.
func (f *function) code(ctx context.Context, l *larder.Larder, fn source.Function) (key.Code, error) {
	captured := slices.Sorted(maps.Keys(f.options.Captured))
	if len(captured) == 0 {
		if err := fn.CheckState(); err != nil {
			return key.Code{}, err
		}
	}
	switch {
	case f.options.Version != "":
		return key.VersionOf(fn.Package, f.options.Version), f.checkCaptured(ctx, l, fn, captured)
	case f.options.Build || !fn.Registered():
		if err := f.checkCaptured(ctx, l, fn, captured); err != nil {
			return key.Code{}, err
		}
		if err := fn.CheckLibrary(f.options.Pure); err != nil {
			return key.Code{}, err
		}
		return key.Build()
	}
	c, err := larder.Closure(ctx, l, fn, source.Declared{Pure: f.options.Pure, Captured: captured})
	if err != nil {
		return key.Code{}, err
	}
	for _, name := range captured {
		if err := c.Admits(f.options.Captured[name]); err != nil {
			return key.Code{}, fmt.Errorf("captured %s: %w", name, err)
		}
	}
	f.closure = c
	return key.Code{Kind: string(c.Kind), ID: c.ID.String()}, nil
}

// checkCaptured holds what is declared as Captured to what the function captures.
func (f *function) checkCaptured(ctx context.Context, l *larder.Larder, fn source.Function, declared []string) error {
	if len(declared) == 0 && !fn.HasState() {
		return nil
	}
	return larder.CheckCaptured(ctx, l, fn, declared)
}

// call runs the function on arguments of its own.
func (f *function) call(ctx context.Context, e *evaluator, args []any) (any, error) {
	if f.closure == nil {
		return f.invoke(larder.Bare(ctx), e, args)
	}
	for i, a := range args {
		if err := f.closure.Admits(a); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
	}
	if err := f.useVariables(ctx); err != nil {
		return nil, err
	}
	v, err := f.invoke(larder.Bare(ctx), e, args)
	if err != nil {
		return v, err
	}
	return v, cmp.Or(f.useVariables(ctx), source.Steady()) // again, to see that they did not change
}

// useVariables notes the values of the package variables that the function
// reads.
func (f *function) useVariables(ctx context.Context) error {
	for _, in := range f.closure.Inputs {
		if err := larder.UseVariable(ctx, in); err != nil {
			return err
		}
		if err := f.closure.AdmitsInput(in); err != nil {
			return err
		}
	}
	return nil
}

// claims remembers which function goes by a name: where a version alone
// identifies the code, two of one name would take each other's results.
var claims sync.Map // of places, by name

func claim(name, place string) error {
	if other, taken := claims.LoadOrStore(name, place); taken && other != place {
		return fmt.Errorf("the functions at %s and %s have one name and one version: give them names of their own", other, place)
	}
	return nil
}

// apply makes the node of a call.
func (f *function) apply(args ...*node) *node {
	n := &node{fn: f, args: args}
	for _, a := range args {
		n.level = max(n.level, a.level)
	}
	if f.options.Eager != nil {
		return n.now(f.options.Eager)
	}
	return n
}

// now computes a node at once.
func (n *node) now(l *larder.Larder) *node {
	_, err := (Evaluation{}).get(context.Background(), l, n)
	if err != nil && !errors.Is(err, errOutside) { // a pattern stays lazy
		n.err = err
	}
	return n
}

// results keeps results of type R.
type results[R any] struct{}

func (results[R]) call(c call) (larder.Call[R], error) {
	v, err := codec.For[R]()
	if err != nil {
		return larder.Call[R]{}, err
	}
	return larder.Call[R]{
		Action: c.action, Resolve: c.resolve, Value: v, MemoryOnly: c.memory,
		Compute: func(ctx context.Context) (R, error) {
			got, err := c.compute(ctx)
			r, _ := got.(R)
			return r, err
		},
	}, nil
}

func (k results[R]) do(ctx context.Context, l *larder.Larder, c call) (outcome, error) {
	call, err := k.call(c)
	if err != nil {
		return outcome{}, err
	}
	r, err := call.Do(ctx, l)
	return outcome{r.Value, r.From, r.Key, r.Reads, r.Unkept}, err
}

// find looks for a kept result; unless it looks closely, what other processes
// kept in the last moments may be overlooked.
func (k results[R]) find(ctx context.Context, l *larder.Larder, c call, closely bool) (outcome, bool) {
	call, err := k.call(c)
	if err != nil {
		return outcome{}, false
	}
	find := call.Peek
	if closely {
		find = call.Find
	}
	r, ok := find(ctx, l)
	return outcome{r.Value, r.From, r.Key, r.Reads, nil}, ok
}

// check computes a kept result again.
func (k results[R]) check(ctx context.Context, l *larder.Larder, c call, o outcome) error {
	call, err := k.call(c)
	if err != nil {
		return err
	}
	v, _ := o.value.(R)
	return call.Check(ctx, l, larder.Result[R]{Value: v, Key: o.key})
}

func (results[R]) copy(v any) (any, bool) { return copier[R]()(v) }

// keepable tells before anything is computed what the type alone tells.
func (results[R]) keepable() error {
	_, err := codec.For[R]()
	return err
}

func (results[R]) kind() string {
	v, err := codec.For[R]()
	if err != nil {
		return "key"
	}
	return v.ID
}

var errNoCodec = errors.New("lazy: results of this type cannot be encoded")

func (results[R]) digest(v any) (key.Digest, error) {
	c, err := codec.For[R]()
	if err != nil {
		return key.Digest{}, errNoCodec
	}
	r, _ := v.(R)
	b, err := c.Encode(nil, r)
	if err != nil {
		return key.Digest{}, err
	}
	return key.DigestOf(b), nil
}
