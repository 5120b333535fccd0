package parquet

import (
	"bytes"
	"fmt"
	"sync/atomic"
)

// Decoded returns the number of data pages decoded so far.
func Decoded() int64 { return atomic.LoadInt64(&decoded) }

// CheckPage decodes a page and reads its values.
func CheckPage(b []byte, values, encoding, physical int, opt, list bool) error {
	n := &node{name: "x", physical: physical, width: 3}
	if n.checkLeaf() != nil {
		return nil
	}
	if opt {
		n.repetition, n.maxDef = optional, 1
	}
	if list {
		n.repetition, n.maxDef, n.maxRep, n.lists = repeated, n.maxDef+1, 1, []int{n.maxDef + 1}
	}
	dict, err := decodePlain(n, min(values, 2), b)
	if err != nil {
		dict = nil
	}
	x := &block{leaf: n, rows: values}
	p := &page{kind: dataPage, values: values, encoding: encoding, defEncoding: encRLE, repEncoding: encRLE}
	if err := x.add(p, b, dict); err != nil {
		return nil
	}
	for i := range x.count() {
		_, _ = n.plain(x.value(i))
	}
	if list {
		x.rows = 0
		for _, r := range x.rep {
			if r == 0 {
				x.rows++
			}
		}
	}
	if err := x.findRows(); err != nil {
		return nil
	}
	for row := range x.rows {
		c := []cursor{cursorAt(x, row)}
		if _, err := assemble(n, c); err == nil && c[0].at != c[0].end {
			return fmt.Errorf("row %d ends at %d, and not at %d", row, c[0].at, c[0].end)
		}
	}
	return nil
}

// UnpackedLZ4 unpacks data of the old codec LZ4.
var UnpackedLZ4 = unpackedLZ4

// Assemble makes a list of structs with the strings a and b from the levels of both, and
// reports damage.
func Assemble(defA, repA, defB, repB []byte) error {
	schema := &node{name: "schema", physical: noType, children: []*node{{name: "l", physical: noType, repetition: repeated, maxDef: 1, maxRep: 1, leaves: 2}}}
	l := schema.children[0]
	levels := [][2][]byte{{defA, repA}, {defB, repB}}
	cs := make([]cursor, len(levels))
	for k, name := range []string{"a", "b"} {
		n := &node{name: name, physical: physInt32, width: 4, repetition: optional, maxDef: 2, maxRep: 1, lists: []int{1}, leaf: k, leaves: 1}
		l.children = append(l.children, n)
		b := &block{leaf: n, rows: 1, def: levels[k][0], rep: levels[k][1]}
		there := bytes.Count(b.def, []byte{2})
		v, err := decodePlain(n, there, make([]byte, 4*there))
		if err != nil {
			return err
		}
		b.parts, b.ends = []*vector{v}, []int{there}
		if err := b.findRows(); err != nil {
			return err
		}
		cs[k] = cursorAt(b, 0)
	}
	_, err := whole(l, cs)
	return err
}
