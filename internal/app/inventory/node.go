package inventory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/larder-data/larder/store"
)

// A Node sums up the records that one operation made.
type Node struct {
	Name    string
	Detail  string // as that of records
	Records int64  // that are no links
	Links   int64
	Pinned  int64         // of both
	Bytes   int64         // of payload
	Cost    time.Duration // that computing all of them took, and would take
	Oldest  time.Time     // when the first was made
	Newest  time.Time     // when the last was made
	Used    time.Time     // when one was last used, to about an hour
}

// IsBookkeeping reports whether n is no operation but stands for records that
// are no results.
func (n Node) IsBookkeeping() bool { return n.Name == FileDigestNode || n.Name == UnexplainedNode }

func (n *Node) add(r Record) {
	if r.Kind == Link || r.Kind == RecordedInputs {
		n.Links++
	} else {
		n.Records++
		n.Cost += r.Cost
	}
	if r.Pinned {
		n.Pinned++
	}
	n.Bytes += r.Size
	if n.Oldest.IsZero() || r.Created.Before(n.Oldest) {
		n.Oldest = r.Created
	}
	if r.Created.After(n.Newest) {
		n.Newest = r.Created
	}
	if r.Used.After(n.Used) {
		n.Used = r.Used
	}
}

// Label is what the node is called, with its detail.
func (n Node) Label() string { return label(n.Name, n.Detail) }

// nodes collects records by node and detail.
type nodes map[nodeID]*Node

type nodeID struct{ name, detail string }

// of returns the node of an id, which is made if there is none.
func (all nodes) of(id nodeID) *Node {
	n := all[id]
	if n == nil {
		n = &Node{Name: id.name, Detail: id.detail}
		all[id] = n
	}
	return n
}

func (all nodes) add(r Record) {
	all.of(nodeID{r.Node, r.Detail}).add(r)
}

// join adds what of a node was counted elsewhere, if it is anything.
func (all nodes) join(id nodeID, m Node) {
	if m.Records+m.Links == 0 {
		return
	}
	n := all.of(id)
	n.Records += m.Records
	n.Links += m.Links
	n.Pinned += m.Pinned
	n.Bytes += m.Bytes
	n.Cost += m.Cost
}

// sorted returns the nodes by name, those for bookkeeping last.
func (all nodes) sorted() []Node {
	list := make([]Node, 0, len(all))
	for _, n := range all {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(a, b Node) int {
		if a.IsBookkeeping() != b.IsBookkeeping() {
			if a.IsBookkeeping() {
				return 1
			}
			return -1
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Detail, b.Detail))
	})
	return list
}

// Nodes sums up the selected records by node, in the order of names; those
// that are no operations come last.
func Nodes(ctx context.Context, s store.Store, sel Selection) ([]Node, error) {
	all := nodes{}
	for r, err := range Records(ctx, s, sel) {
		if err != nil {
			return nil, err
		}
		all.add(r)
	}
	return all.sorted(), nil
}
