package inventory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/larder-data/larder/store"
)

// A Node sums up the records of one operation.
type Node struct {
	Name    string
	Detail  string // as in Record
	Records int64  // without links
	Links   int64
	Pinned  int64         // of both
	Bytes   int64         // of payload
	Cost    time.Duration // time that computing all of them took
	Oldest  time.Time     // creation of the first
	Newest  time.Time     // creation of the last
	Used    time.Time     // last use, to about an hour
}

// IsBookkeeping reports whether n represents records that are not results, rather
// than an operation.
func (n Node) IsBookkeeping() bool {
	return n.Name == FileDigestNode || n.Name == OperationsNode || n.Name == UnexplainedNode
}

func (n *Node) add(r Record) {
	if r.Kind == Link || r.Kind == RecordedInputs {
		n.Links++
	} else {
		n.Records++
	}
	if r.isResult() {
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

// Label returns the name of the node with its detail.
func (n Node) Label() string { return label(n.Name, n.Detail) }

// nodes collects records by node and detail.
type nodes map[nodeID]*Node

type nodeID struct{ name, detail string }

// of returns the node with an id, and creates a missing one.
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

// join adds the counters of m, unless they are zero.
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

// Nodes sums up the selected records by node, sorted by name, with bookkeeping
// last.
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
