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
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
)

// Options configure the identity of a function and the storage of its results. The zero
// value is useful.
type Options struct {
	// Version identifies the code: its author changes it whenever results change. Empty
	// identifies it by source or, failing that, by the executable.
	Version string
	// Build identifies the code by the executable even if its package registers its
	// sources. It is for code that reaches code without known source.
	Build bool
	// Pure lists impure or unknown code that the function may reach: see
	// codeid.Options.
	Pure []string
	// Captured holds, by name, the values of all variables that a function literal
	// captures. They become part of the key. The package must register its sources, so
	// that Larder can check that none is missing.
	Captured map[string]any
	// Keep says where to store results.
	Keep Keep
	// Eager, if not nil, is the Larder with which each call is computed immediately and
	// stored. An error is returned when the value is requested.
	Eager *larder.Larder
}

// Keep says where to store the results of a function.
type Keep int

// Values of Keep.
const (
	KeepOnDisk   Keep = iota // in the store
	KeepInMemory             // in the memory cache of this process
	KeepNot                  // nowhere: computed whenever a missing result depends on it
)

// A function is a Go function without its static types.
type function struct {
	name    string
	options Options
	value   any // the Go function
	builtin bool
	err     error
	// patterns, for functions of this package with lazy arguments; part of the identity
	trees  []*node
	params []key.Param // further parameters of the identity

	invoke func(ctx context.Context, e *evaluator, args []any) (any, error)
	cached keeper

	mu      sync.Mutex
	op      *key.Op
	closure *analysis.Closure // set if the source identifies it
}

// keeper caches results with their static type.
type keeper interface {
	do(ctx context.Context, l *larder.Larder, c call) (outcome, error)
	find(ctx context.Context, l *larder.Larder, c call, closely bool) (outcome, bool)
	check(ctx context.Context, l *larder.Larder, c call, o outcome) error
	keepable() error // error if the type alone shows that results cannot be stored
	copy(v any) (any, bool)
	digest(v any) (key.Digest, error)
	kind() string // codec
}

// call is one use of a function.
type call struct {
	action  *key.Action
	compute func(context.Context) (any, error)
	resolve func(context.Context) ([]key.Input, error)
	memory  bool
}

type outcome struct {
	value    any
	from     larder.From
	key      key.Key
	reads    []larder.Read
	uncached error // why it is not cached; nil if it is
}

func newFunction[R any](name string, f any, o []Options, invoke func(ctx context.Context, args []any) (R, error)) *function {
	fn := &function{
		name: name, value: f, cached: results[R]{},
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

// newBuiltin describes a function of this package. It is cheap and its results are not
// cached.
func newBuiltin[R any](name string, invoke func(ctx context.Context, e *evaluator, args []any) (R, error), params ...key.Param) *function {
	return &function{
		name: name, builtin: true, options: Options{Keep: KeepNot}, cached: results[R]{}, params: params,
		invoke: func(ctx context.Context, e *evaluator, args []any) (any, error) { return invoke(ctx, e, args) },
	}
}

// operation returns the fixed part of the function's actions. It computes it once.
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
		if err := f.cached.keepable(); err != nil {
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
	fn, err := analysis.FunctionOf(f.value)
	if err != nil {
		return nil, err
	}
	code, err := f.code(ctx, l, fn)
	if err != nil {
		return nil, err
	}
	types := analysis.TypeText(reflect.TypeOf(f.value))
	params := []key.Param{{Name: "types", Value: types}, {Name: "package", Value: fn.Package}}
	switch code.Kind {
	case "build", string(analysis.Program):
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
			methods, err := known.MethodsOf(ctx, l, t.value)
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

func (f *function) code(ctx context.Context, l *larder.Larder, fn analysis.Function) (key.Code, error) {
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
	c, err := known.Closure(ctx, l, fn, analysis.Declared{Pure: f.options.Pure, Captured: captured})
	if err != nil {
		return key.Code{}, err
	}
	for _, name := range captured {
		if err := c.CheckValue(f.options.Captured[name]); err != nil {
			return key.Code{}, fmt.Errorf("captured %s: %w", name, err)
		}
	}
	f.closure = c
	return key.Code{Kind: string(c.Kind), ID: c.ID.String()}, nil
}

// checkCaptured compares the declared variables with those that the function captures.
func (f *function) checkCaptured(ctx context.Context, l *larder.Larder, fn analysis.Function, declared []string) error {
	if len(declared) == 0 && !fn.HasState() {
		return nil
	}
	return known.CheckCaptured(ctx, l, fn, declared)
}

// call runs the function on arguments of its own.
func (f *function) call(ctx context.Context, e *evaluator, args []any) (any, error) {
	if f.closure == nil {
		return f.invoke(larder.WithoutValues(ctx), e, args)
	}
	for i, a := range args {
		if err := f.closure.CheckValue(a); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
	}
	if err := f.useVariables(ctx); err != nil {
		return nil, err
	}
	v, err := f.invoke(larder.WithoutValues(ctx), e, args)
	if err != nil {
		return v, err
	}
	return v, cmp.Or(f.useVariables(ctx), analysis.CheckUnchanged()) // again, to check that they did not change
}

// useVariables records the package variables that the function reads as dependencies.
func (f *function) useVariables(ctx context.Context) error {
	for _, in := range f.closure.Inputs {
		if err := known.UseVariable(ctx, in); err != nil {
			return err
		}
		if err := f.closure.AdmitsInput(in); err != nil {
			return err
		}
	}
	return nil
}

// claims maps the names of functions to their positions. Where a version alone
// identifies the code, two functions of one name would share results.
var claims sync.Map // of places, by name

func claim(name, place string) error {
	if other, taken := claims.LoadOrStore(name, place); taken && other != place {
		return fmt.Errorf("the functions at %s and %s have one name and one version: give them names of their own", other, place)
	}
	return nil
}

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

// now computes a node immediately.
func (n *node) now(l *larder.Larder) *node {
	_, err := (Evaluation{}).get(context.Background(), l, n)
	if err != nil && !errors.Is(err, errOutside) { // a pattern stays lazy
		n.err = err
	}
	return n
}

// results caches results of type R.
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
	return outcome{r.Value, r.From, r.Key, r.Reads, r.Uncached}, err
}

// find looks for a cached result. Without closely it may miss what other processes
// stored in the last moments.
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

func (k results[R]) check(ctx context.Context, l *larder.Larder, c call, o outcome) error {
	call, err := k.call(c)
	if err != nil {
		return err
	}
	v, _ := o.value.(R)
	return call.Check(ctx, l, larder.Result[R]{Value: v, Key: o.key})
}

func (results[R]) copy(v any) (any, bool) { return copier[R]()(v) }

// keepable returns an error if the type alone shows that results cannot be stored.
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
