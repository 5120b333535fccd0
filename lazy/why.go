package lazy

import (
	"context"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/explain"
	"github.com/larder-data/larder/key"
)

// Why explains why a value would be computed. It lists the components in which the
// value differs from the nearest cached result. The list is empty if the value itself
// is cached. If an argument changed, the lines explain that, and start with the
// argument's name.
func Why(ctx context.Context, l *larder.Larder, v Node) ([]string, error) {
	b := builder{ctx: ctx, larder: l}
	n := v.node()
	if err := b.name(n); err != nil || n.constant() {
		return nil, err
	}
	var lines []string
	seen := map[key.Key]bool{}
	queue := []*node{n}
	for len(queue) > 0 && len(lines) < maxLines {
		n, k := queue[0], queue[0].action.Load().key
		queue = queue[1:]
		if seen[k] || n.hole != nil {
			continue
		}
		seen[k] = true
		if cached, err := l.Has(ctx, k); err != nil || cached && n.fn.options.Keep != KeepNot {
			if err != nil {
				return lines, err
			}
			continue
		}
		for _, a := range n.args {
			if !a.constant() {
				queue = append(queue, a)
			}
		}
		if n.fn.options.Keep == KeepNot {
			continue
		}
		a, err := b.action(n)
		if err != nil {
			return lines, err
		}
		d, err := explain.Nearest(ctx, l, a)
		if err != nil {
			return lines, err
		}
		lines = append(lines, describe(d)...)
	}
	return lines, nil
}

const maxLines = 50

func describe(d explain.Difference) []string {
	if d.Nearest.IsZero() {
		return []string{d.Node + ": not computed before"}
	}
	lines := make([]string, len(d.Changes))
	for i, c := range d.Changes {
		lines[i] = d.Node + ": " + c
	}
	return lines
}
