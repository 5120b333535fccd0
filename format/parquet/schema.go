package parquet

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/larder-data/larder/internal/text/display"
)

// Repetition of a field.
const (
	required = 0
	optional = 1
	repeated = 2
)

// Physical types.
const (
	physBool  = 0
	physInt32 = 1
	physInt64 = 2
	physInt96 = 3
	physFloat = 4
	physDoub  = 5
	physBytes = 6
	physFixed = 7
	noType    = -1
)

// A meaning is the logical type of a field.
type meaning uint8

const (
	plainValue meaning = iota
	aText
	aMap
	aList
	aDecimal
	aDate
	aTime
	aTimestamp
	anInteger
	aDocument
	aUUID
	aHalf
	nothing
)

// A node is a field of the schema: a leaf, which is a column of a file, or a group.
type node struct {
	name       string
	repetition int
	children   []*node

	physical int // of a leaf
	width    int // of a leaf of fixed length, in bytes
	meaning  meaning
	unit     int  // of times: decimal digits of a second
	utc      bool // of times
	bits     int  // of integers
	unsigned bool
	scale    int // of decimals

	maxDef, maxRep int
	lists          []int // the maxDef of each repeated field on the path to this one
	leaf           int   // index of the column; for a group, the first one below it
	leaves         int   // number of columns below
}

func (n *node) isLeaf() bool { return n.physical != noType }

// leavesOf returns the leaves below a node, in order.
func leavesOf(n *node, all []*node) []*node {
	if n.isLeaf() {
		return append(all, n)
	}
	for _, c := range n.children {
		all = leavesOf(c, all)
	}
	return all
}

// An element is a node as encoded in a footer.
type element struct {
	node
	below     int
	converted int
	logical   bool
}

// readElement reads a SchemaElement.
func readElement(m *message, kind byte) (e element) {
	e.physical, e.converted = noType, -1
	named := false
	m.fields(kind, func(id int, kind byte) {
		switch id {
		case 1:
			e.physical = m.int32(kind)
		case 2:
			e.width = m.int32(kind)
		case 3:
			e.repetition = m.int32(kind)
		case 4:
			e.name, named = string(m.binary(kind)), true
		case 5:
			e.below = m.int32(kind)
		case 6:
			e.converted = m.int32(kind)
		case 7:
			e.scale = m.int32(kind)
		case 10:
			e.readLogical(m, kind)
		default:
			m.skip(kind)
		}
	})
	if !utf8.ValidString(e.name) {
		m.fail(fmt.Errorf("the schema is damaged: name %q is not UTF-8", e.name))
	}
	if !named {
		m.fail(errMessage)
	}
	if !e.logical {
		e.convert()
	}
	return e
}

// readLogical reads a LogicalType, which is a union.
func (e *element) readLogical(m *message, kind byte) {
	meanings := map[int]meaning{1: aText, 2: aMap, 3: aList, 4: aText, 5: aDecimal, 6: aDate, 7: aTime, 8: aTimestamp, 10: anInteger, 11: nothing, 12: aDocument, 14: aUUID, 15: aHalf}
	m.fields(kind, func(id int, kind byte) {
		is, ok := meanings[id]
		if !ok {
			m.skip(kind)
			return
		}
		e.logical, e.meaning = true, is
		m.fields(kind, func(id int, kind byte) {
			switch {
			case is == aDecimal && id == 1:
				e.scale = m.int32(kind)
			case (is == aTime || is == aTimestamp) && id == 1:
				e.utc = m.bool(kind)
			case (is == aTime || is == aTimestamp) && id == 2:
				m.fields(kind, func(id int, kind byte) {
					e.unit = 3 * id
					m.skip(kind)
				})
			case is == anInteger && id == 1:
				e.bits = m.int32(kind)
			case is == anInteger && id == 2:
				e.unsigned = !m.bool(kind)
			default:
				m.skip(kind)
			}
		})
	})
}

// convert sets the meaning from the older converted type.
func (e *element) convert() {
	switch c := e.converted; {
	case c == 0 || c == 4:
		e.meaning = aText
	case c == 1 || c == 2:
		e.meaning = aMap
	case c == 3:
		e.meaning = aList
	case c == 5:
		e.meaning = aDecimal
	case c == 6:
		e.meaning = aDate
	case c == 7 || c == 8:
		e.meaning, e.unit, e.utc = aTime, 3*(c-6), true
	case c == 9 || c == 10:
		e.meaning, e.unit, e.utc = aTimestamp, 3*(c-8), true
	case c >= 11 && c <= 14:
		e.meaning, e.bits, e.unsigned = anInteger, 8<<(c-11), true
	case c >= 15 && c <= 18:
		e.meaning, e.bits = anInteger, 8<<(c-15)
	case c == 19:
		e.meaning = aDocument
	}
}

// tree builds the schema from the elements of a footer, which are in depth-first order.
func tree(elements []element) (*node, error) {
	if len(elements) == 0 {
		return nil, errors.New("the schema is missing: the file is damaged")
	}
	b := &treeBuilder{rest: elements}
	root, err := b.next(nil)
	if err != nil {
		return nil, err
	}
	if root.isLeaf() || len(b.rest) > 0 {
		return nil, errors.New("the schema is damaged")
	}
	return root, nil
}

type treeBuilder struct {
	rest   []element
	leaves int
	depth  int
}

func (b *treeBuilder) next(above *node) (*node, error) {
	if len(b.rest) == 0 || b.depth > maxDepth {
		return nil, errors.New("the schema is damaged")
	}
	e := b.rest[0]
	b.rest = b.rest[1:]
	n := &e.node
	n.leaf = b.leaves
	if above != nil {
		n.maxDef, n.maxRep, n.lists = above.maxDef, above.maxRep, above.lists
		if n.repetition != required {
			n.maxDef++
		}
		if n.repetition == repeated {
			n.maxRep++
			n.lists = append(slices.Clip(n.lists), n.maxDef)
		}
	}
	if n.isLeaf() {
		b.leaves++
		n.leaves = 1
		return n, n.checkLeaf()
	}
	if e.below <= 0 && above != nil || e.below < 0 || e.below > len(b.rest) {
		return nil, fmt.Errorf("the schema is damaged: group %q has %d fields", n.name, e.below)
	}
	b.depth++
	names := map[string]bool{}
	for range e.below {
		c, err := b.next(n)
		if err != nil {
			return nil, err
		}
		if names[c.name] && above != nil { // columns are checked where they are selected
			return nil, fmt.Errorf("column %s: two fields are named %s; rename one", display.Name(n.name), display.Name(c.name))
		}
		names[c.name] = true
		n.children = append(n.children, c)
	}
	b.depth--
	n.leaves = b.leaves - n.leaf
	return n, nil
}

func (n *node) checkLeaf() error {
	switch n.physical {
	case physBool:
		n.width = 1
	case physInt32, physFloat:
		n.width = 4
	case physInt64, physDoub:
		n.width = 8
	case physInt96:
		n.width = 12
	case physBytes:
		n.width = 0
	case physFixed:
		if n.width <= 0 || n.width > maxPage {
			return fmt.Errorf("the schema is damaged: %q has %d bytes", n.name, n.width)
		}
	default:
		return fmt.Errorf("%q has unknown type %d", n.name, n.physical)
	}
	if n.meaning == aHalf && n.width != 2 || n.meaning == aUUID && n.width != 16 {
		return fmt.Errorf("the schema is damaged: %q has %d bytes", n.name, n.width)
	}
	return nil
}
