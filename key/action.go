package key

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// A Param is a fixed parameter of an operation. Its value is any that [Encode] accepts.
// The operation refers to the value, so the caller must not change it while the
// operation is in use: see [Action.Changed].
type Param struct {
	Name  string
	Value any
}

// An Op is the fixed part of an action: its name, code and parameters. It is encoded
// once, by [NewOp], and immutable.
type Op struct {
	name   string
	code   Code
	sum    [sha256.Size]byte
	params []Part
	values []Param // sorted by name; nil if no value can change

	detail string // human-readable description in addition to the name

	described sync.Once
	fixed     []Part // its part of Parts, computed once
	encoded   []byte // the same as CBOR

	describing   sync.Mutex
	descriptions map[string]*Description // by the encoding of names and kinds of inputs
}

// NewOp returns an operation. Parameters are matched by name: their order does not
// matter, and NewOp returns an error for two of one name.
func NewOp(name string, code Code, params ...Param) (*Op, error) {
	switch {
	case name == "":
		return nil, errors.New("key: an operation needs a name")
	case code.Kind == "" || code.ID == "":
		return nil, fmt.Errorf("key: operation %s needs the identity of its code: use key.Version or key.Build", name)
	}
	op := &Op{name: name, code: code}
	params = slices.SortedStableFunc(slices.Values(params), func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
	for i, p := range params {
		if i > 0 && p.Name == params[i-1].Name {
			return nil, fmt.Errorf("key: operation %s has two parameters named %q", name, p.Name)
		}
	}
	var err error
	if op.sum, err = op.hash(params); err != nil {
		return nil, err
	}
	for _, p := range params {
		op.params = appendParts(op.params, paramPart, p.Name, p.Value)
	}
	if slices.ContainsFunc(params, func(p Param) bool { return changeable(p.Value) }) {
		op.values = params
		op.params = append(op.params, sharingPart(paramPart, func(e *encoder) error { return e.params(params) })...)
	}
	return op, nil
}

// Detailed sets a human-readable description, such as a command or an expression, and
// returns o. The description is in provenance and not in keys. Call it before o is
// used.
func (o *Op) Detailed(detail string) *Op {
	o.detail = detail
	return o
}

// hash hashes the operation with its parameters, sorted by name.
func (o *Op) hash(params []Param) (sum [sha256.Size]byte, err error) {
	e := newEncoder(layerOp)
	defer e.free()
	e.string(o.name)
	e.string(o.code.Kind)
	e.string(o.code.ID)
	e.string(o.code.Package)
	if err := e.params(params); err != nil {
		return sum, fmt.Errorf("key: operation %s, %w", o.name, err)
	}
	return e.sum(), nil
}

func (e *encoder) params(params []Param) error {
	e.length(len(params))
	for _, p := range params {
		e.string(p.Name)
		if err := e.root(p.Value); err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
	}
	return e.unmixed()
}

// changeable reports whether a holder of v can change it for others.
func changeable(v any) bool {
	if v == nil {
		return false
	}
	switch k := reflect.TypeOf(v).Kind(); k {
	case reflect.String:
		return false
	default:
		return k < reflect.Bool || k > reflect.Complex128
	}
}

// Name returns the name of the operation.
func (o *Op) Name() string { return o.name }

// Code returns the identity of the operation's code.
func (o *Op) Code() Code { return o.code }

// A Ref identifies an input of an action: bytes with known content, or the result of
// another computation that need not have run. The zero Ref identifies nothing.
type Ref struct {
	kind   refKind
	name   [Size]byte // a Digest or a Key
	output string
}

type refKind byte

const (
	refContent refKind = 1
	refResult  refKind = 2
)

// Content refers to known bytes. The zero Digest gives the zero Ref.
func Content(d Digest) Ref {
	if d.IsZero() {
		return Ref{}
	}
	return Ref{kind: refContent, name: d}
}

// Result refers to one output of a computation. The zero Key gives the zero Ref.
func Result(k Key, output string) Ref {
	if k.IsZero() {
		return Ref{}
	}
	return Ref{kind: refResult, name: k, output: output}
}

// IsContent reports whether r refers to known bytes.
func (r Ref) IsContent() bool { return r.kind == refContent }

// Digest returns the argument of [Content], and the zero Digest for other references.
func (r Ref) Digest() Digest {
	if r.kind != refContent {
		return Digest{}
	}
	return r.name
}

// String returns the digest, or the key and the output: "k1-... output".
func (r Ref) String() string { return string(r.append(nil)) }

func (r Ref) append(text []byte) []byte {
	switch r.kind {
	case refContent:
		return appendName(text, 'd', r.name)
	case refResult:
		return append(append(appendName(text, 'k', r.name), ' '), r.output...)
	}
	return append(text, "nothing"...)
}

// An Input is an input of an action.
type Input struct {
	Name string
	Ref  Ref
	// Kind says how the bytes are read, such as a codec with its version or a file
	// extension, because two decoders of one format may give two values. It is part of
	// the key.
	Kind string
}

func (e *encoder) input(in Input) {
	e.string(in.Name)
	e.string(in.Kind)
	e.buf = append(e.buf, byte(in.Ref.kind))
	e.buf = append(e.buf, in.Ref.name[:]...)
	e.string(in.Ref.output)
}

// An Action describes one computation before it runs: an operation, the arguments of a
// call, and the inputs. It is immutable and safe for concurrent use. The caller must
// not change its arguments while it is in use.
type Action struct {
	op      *Op
	args    []any
	argsSum [sha256.Size]byte
	inputs  []Input
	key     Key
	shares  bool   // some pointers, slices or maps of args are the same
	only    [1]any // memory of args: most calls have one
}

// Action returns the operation applied to inputs. Their order matters.
func (o *Op) Action(inputs ...Input) *Action {
	a := &Action{op: o, inputs: slices.Clone(inputs)}
	a.seal()
	return a
}

// Key returns the key of [Op.Action] without creating the action. It is for callers
// that need many more keys than actions.
func (o *Op) Key(inputs ...Input) Key {
	a := Action{op: o, inputs: inputs}
	a.seal()
	return a.key
}

// Call returns the operation applied to arguments. Their order matters. The action
// refers to the arguments, for [Action.Parts].
func (o *Op) Call(args ...any) (*Action, error) {
	a := &Action{op: o}
	a.args = append(a.only[:0], args...)
	e := newEncoder(layerArgs)
	defer e.free()
	if err := e.arguments(args); err != nil {
		return nil, fmt.Errorf("key: operation %s, %w", o.name, err)
	}
	a.argsSum, a.shares = e.sum(), e.referents.shared()
	e.restart(layerAction)
	a.sealWith(e)
	return a, nil
}

// NewAction combines [NewOp], without parameters, and [Op.Call]. For an operation that
// is called often, call NewOp once.
func NewAction(name string, code Code, args ...any) (*Action, error) {
	op, err := NewOp(name, code)
	if err != nil {
		return nil, err
	}
	return op.Call(args...)
}

func (a *Action) seal() {
	e := newEncoder(layerAction)
	defer e.free()
	a.sealWith(e)
}

// sealWith computes the key with an encoder at layerAction. Without arguments argsSum
// is zero, which is not the hash of any known bytes.
func (a *Action) sealWith(e *encoder) {
	e.buf = append(e.buf, a.op.sum[:]...)
	e.buf = append(e.buf, a.argsSum[:]...)
	e.length(len(a.inputs))
	for _, in := range a.inputs {
		e.input(in)
		e.spill()
	}
	sum := e.sum()
	a.key[0] = tagKey
	copy(a.key[1:], sum[:])
}

// Key returns the key of the computation.
func (a *Action) Key() Key { return a.key }

// Op returns the operation.
func (a *Action) Op() *Op { return a.op }

// Changed returns an error if the arguments, or the operation's parameters, changed
// after the action was created. Its key then does not identify a result computed from
// them.
func (a *Action) Changed() error {
	return cmp.Or(a.op.Changed(), a.ArgumentsChanged())
}

// ArgumentsChanged is [Action.Changed] for the arguments alone. With it, a caller that
// checks many actions of one operation can call [Op.Changed] once.
func (a *Action) ArgumentsChanged() error {
	if len(a.args) == 0 {
		return nil
	}
	e := newEncoder(layerArgs)
	defer e.free()
	if err := e.arguments(a.args); err != nil {
		return fmt.Errorf("key: operation %s: the arguments have changed: %w", a.op.name, err)
	}
	if e.sum() != a.argsSum {
		return fmt.Errorf("key: operation %s: the arguments have changed since its key was computed; copy the arguments that the computation changes", a.op.name)
	}
	return nil
}

// Changed returns an error if the parameters changed after the operation was created.
func (o *Op) Changed() error {
	if o.values == nil {
		return nil
	}
	sum, err := o.hash(o.values)
	if err == nil && sum != o.sum {
		err = fmt.Errorf("key: operation %s", o.name)
	}
	if err != nil {
		return fmt.Errorf("%w: a parameter has changed since the operation was created; copy it before changing it", err)
	}
	return nil
}

func (e *encoder) arguments(args []any) error {
	e.length(len(args))
	for i, v := range args {
		if err := e.root(v); err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
	}
	return e.unmixed()
}

// Inputs returns the inputs. The caller must not write to them.
func (a *Action) Inputs() []Input { return a.inputs }

// Resolved reports whether every input is identified by its content.
func (a *Action) Resolved() bool {
	return !slices.ContainsFunc(a.inputs, func(in Input) bool { return !in.Ref.IsContent() })
}

// WithInputs returns the same operation and arguments applied to other inputs: as a
// rule those of a, with results replaced by their contents.
func (a *Action) WithInputs(inputs []Input) *Action {
	b := &Action{op: a.op, args: a.args, argsSum: a.argsSum, shares: a.shares, inputs: slices.Clone(inputs)}
	b.seal()
	return b
}
