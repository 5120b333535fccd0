package lazy

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
)

// builder computes the identities of nodes.
type builder struct {
	ctx    context.Context
	larder *larder.Larder
	made   *key.Action // the last action created for an identity
}

// name computes the identity of n and of all nodes below that have none. It does not
// recurse, because a tree may be very deep.
func (b *builder) name(n *node) error {
	stack := []*node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		if n.action.Load() != nil {
			stack = stack[:len(stack)-1]
			continue
		}
		depth := len(stack)
		for _, a := range n.args {
			if a.action.Load() == nil {
				stack = append(stack, a)
			}
		}
		if len(stack) > depth {
			continue
		}
		id, err := b.identify(n)
		if err != nil {
			return err
		}
		n.action.CompareAndSwap(nil, id) // another goroutine may have been faster
		stack = stack[:depth-1]
	}
	return nil
}

// identify computes the identity of a node whose arguments have theirs.
func (b *builder) identify(n *node) (*identity, error) {
	switch {
	case n.err != nil:
		return nil, n.err
	case n.hole != nil:
		return &identity{key: n.hole.key()}, nil
	case n.fn == nil:
		return n.identifyConstant()
	}
	op, err := n.fn.operation(b.ctx, b.larder)
	if err != nil {
		return nil, err
	}
	var few [4]key.Input
	inputs, constants := n.inputs(few[:0])
	if constants == 0 && (!n.fn.builtin || !slices.ContainsFunc(inputs, isLarge)) {
		return &identity{key: op.Key(inputs...)}, nil
	}
	a, err := b.action(n)
	if err != nil {
		return nil, err
	}
	b.made = a
	return &identity{key: a.Key()}, nil
}

// identifyConstant computes the identity of a constant. It first sums up one that
// cannot be copied.
func (n *node) identifyConstant() (id *identity, err error) {
	id = &identity{}
	if n.mayBeBorrowed {
		if _, ok := n.copy(n.value); !ok {
			id.borrowed.see(n.value)
		}
	}
	if !large(n.value) {
		return id, nil // encoded with the action whose argument it is
	}
	if id.value, err = key.Of(n.value); err != nil {
		return nil, fmt.Errorf("lazy: a constant: %w", err)
	}
	return id, nil
}

// slot represents, among the arguments of an action, one that is not a constant.
type slot struct{}

// action describes a node whose arguments have identities. Constants are arguments;
// other nodes are inputs, identified by the computations that produce them.
func (b *builder) action(n *node) (*key.Action, error) {
	op, err := n.fn.operation(b.ctx, b.larder)
	if err != nil {
		return nil, err
	}
	var few [4]key.Input
	inputs, constants := n.inputs(few[:0])
	if n.fn.builtin {
		if inputs, err = b.methods(n, inputs); err != nil {
			return nil, fmt.Errorf("lazy: %s: %w", n.fn.name, err)
		}
	}
	if constants == 0 {
		return op.Action(inputs...), nil
	}
	args := make([]any, len(n.args))
	for i, a := range n.args {
		if args[i] = any(slot{}); a.constant() && a.action.Load().value.IsZero() {
			args[i] = a.value
		}
	}
	action, err := op.Call(args...)
	if err != nil {
		return nil, fmt.Errorf("lazy: %s: %w", n.fn.name, err)
	}
	if len(inputs) > 0 {
		action = action.WithInputs(inputs)
	}
	return action, nil
}

// methods appends to inputs the identities of the methods by which constants encode
// themselves. The types of the functions that use parts of these constants need not
// mention the methods.
func (b *builder) methods(n *node, inputs []key.Input) ([]key.Input, error) {
	for i, a := range n.args {
		if !a.constant() {
			continue
		}
		id, err := known.MethodsOf(b.ctx, b.larder, a.value)
		if err != nil {
			return nil, err
		}
		if id != "" {
			inputs = append(inputs, key.Input{Name: methodsOf + argument(i), Ref: key.Content(key.DigestOf([]byte(id)))})
		}
	}
	return inputs, nil
}

// methodsOf is the prefix of the names of such inputs.
const methodsOf = "methods of "

// inputs appends to list the arguments that are inputs of the node's action, and counts
// the others, which are small constants.
func (n *node) inputs(list []key.Input) (inputs []key.Input, constants int) {
	for i, a := range n.args {
		switch id := a.action.Load(); {
		case !a.constant():
			list = append(list, key.Input{Name: argument(i), Ref: key.Result(id.key, ""), Kind: a.kind()})
		case !id.value.IsZero():
			list = append(list, key.Input{Name: argument(i), Ref: key.Content(id.value), Kind: constantKind})
		default:
			constants++
		}
	}
	return list, constants
}

// constantKind is the kind of inputs that are large constants.
const constantKind = "constant"

func isLarge(in key.Input) bool { return in.Kind == constantKind }

func (n *node) constant() bool { return n.fn == nil && n.hole == nil }

// large reports whether to hash a constant once for all of its uses. A small one is
// part of the description of each action and human-readable there.
func large(v any) bool {
	const many = 64
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Array:
		return r.Len() > many
	case reflect.Pointer:
		return true
	}
	return false
}

func (n *node) kind() string {
	if n.fn == nil {
		return ""
	}
	return n.fn.cached.kind()
}

var argumentNames = func() (names [8]string) {
	for i := range names {
		names[i] = "argument " + strconv.Itoa(i)
	}
	return names
}()

func argument(i int) string {
	if i < len(argumentNames) {
		return argumentNames[i]
	}
	return "argument " + strconv.Itoa(i)
}
