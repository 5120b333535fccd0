package lazy

import (
	"context"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// An Inspection identifies a value.
type Inspection struct {
	Key    key.Key    // the zero Key for a constant
	Result key.Digest // of the encoded value
	// Versioned is true if versions identify all code in the tree. The key is then the
	// same for every build of the program.
	Versioned bool
}

// Inspect evaluates a value of any type and returns its key and digest.
func Inspect(ctx context.Context, l *larder.Larder, v Node) (Inspection, error) {
	n := v.node()
	value, err := Evaluation{}.get(ctx, l, n)
	if err != nil {
		return Inspection{}, err
	}
	if n.constant() {
		d, err := key.Of(value)
		return Inspection{Result: d, Versioned: true}, err
	}
	d, err := n.fn.cached.digest(value)
	return Inspection{Key: n.action.Load().key, Result: d, Versioned: versioned(n)}, err
}

func versioned(n *node) bool {
	seen := map[*node]bool{}
	stack := []*node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n.fn == nil || seen[n] {
			continue
		}
		seen[n] = true
		if !n.fn.builtin && n.fn.options.Version == "" {
			return false
		}
		stack = append(append(stack, n.args...), n.fn.trees...)
	}
	return true
}
