package inventory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Selection is a set of nodes and of key prefixes. The zero Selection is
// everything. [Select] returns others.
type Selection struct {
	nodes    map[string]bool
	prefixes []string
}

// IsAll reports whether everything is selected.
func (sel Selection) IsAll() bool { return len(sel.nodes)+len(sel.prefixes) == 0 }

func (sel Selection) has(r Record) bool {
	return sel.nodes[r.Node] || sel.nodes[r.Label()] || sel.hasPrefixOf(r.Key)
}

func (sel Selection) hasPrefixOf(k key.Key) bool {
	return sel.IsAll() || slices.ContainsFunc(sel.prefixes, func(p string) bool { return hasPrefix(k, p) })
}

// hasPrefix reports whether the text form of k begins with p, with or without the
// letter and number before its digits.
func hasPrefix(k key.Key, p string) bool {
	text := k.String()
	_, digits, _ := strings.Cut(text, "-")
	return p != "" && (strings.HasPrefix(text, p) || strings.HasPrefix(digits, p))
}

// Short returns a prefix of a key that is most likely unique.
func Short(k key.Key) string { return k.String()[:len("k1-")+shortDigits] }

const shortDigits = 12

// An UnknownError says that a name matches nothing in the store.
type UnknownError struct {
	Name  string
	Nodes []string // valid names, in order
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("nothing in the cache is called %q", e.Name)
}

// Select returns the selection for names, each the name of a node or otherwise a
// prefix of a key. Without names it selects everything. The error for a name
// without a match is an [*UnknownError].
func Select(ctx context.Context, s store.Records, names ...string) (Selection, error) {
	return choose(ctx, s, names, true)
}

// SelectNodes is [Select] without prefixes of keys.
func SelectNodes(ctx context.Context, s store.Records, names ...string) (Selection, error) {
	return choose(ctx, s, names, false)
}

func choose(ctx context.Context, s store.Records, names []string, keys bool) (sel Selection, err error) {
	if len(names) == 0 {
		return sel, nil
	}
	nodes, isPrefix := map[string]bool{}, map[string]bool{}
	for r, err := range Records(ctx, s, Selection{}) {
		if err != nil {
			return sel, err
		}
		nodes[r.Node], nodes[r.Label()] = true, true
		for _, name := range names {
			if keys && hasPrefix(r.Key, name) {
				isPrefix[name] = true
			}
		}
	}
	sel.nodes = map[string]bool{}
	for _, name := range names {
		switch {
		case nodes[name]:
			sel.nodes[name] = true
		case isPrefix[name]:
			sel.prefixes = append(sel.prefixes, name)
		default:
			return sel, &UnknownError{name, slices.Sorted(maps.Keys(nodes))}
		}
	}
	return sel, nil
}

// An AmbiguousError says that several keys have the same prefix.
type AmbiguousError struct {
	Prefix     string
	Candidates []Record // the first few
	More       int      // number of others
}

func (e *AmbiguousError) Error() string {
	text := fmt.Sprintf("%d keys begin with %q:", len(e.Candidates)+e.More, e.Prefix)
	for _, r := range e.Candidates {
		text += fmt.Sprintf("\n  %s  %s (%s)", r.Key, r.Node, r.Kind)
	}
	if e.More > 0 {
		text += fmt.Sprintf("\n  and %d more", e.More)
	}
	return text
}

const maxCandidates = 20

// Find returns the one record whose key begins with prefix. The error is an
// [*UnknownError] for no match, and an [*AmbiguousError] for several.
func Find(ctx context.Context, s store.Records, prefix string) (Record, error) {
	var found []Record
	more := 0
	for r, err := range Records(ctx, s, Selection{prefixes: []string{prefix}}) {
		switch {
		case err != nil:
			return Record{}, err
		case len(found) < maxCandidates:
			found = append(found, r)
		default:
			more++
		}
	}
	switch len(found) {
	case 0:
		return Record{}, &UnknownError{Name: prefix}
	case 1:
		return found[0], nil
	}
	slices.SortFunc(found, byKey)
	return Record{}, &AmbiguousError{prefix, found, more}
}

func byKey(a, b Record) int { return slices.Compare(a.Key[:], b.Key[:]) }
