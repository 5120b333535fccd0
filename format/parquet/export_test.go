package parquet

import (
	"fmt"
	"sync/atomic"
)

// Decoded is how many pages of data were decoded so far.
func Decoded() int64 { return atomic.LoadInt64(&decoded) }

// CheckPage decodes a page, and goes through it.
func CheckPage(b []byte, values, encoding, physical int, opt, list bool) error {
	n := &node{name: "x", physical: physical, width: 3}
	if n.checkLeaf() != nil {
		return nil
	}
	if opt {
		n.repetition, n.maxDef = optional, 1
	}
	if list {
		n.repetition, n.maxDef, n.maxRep = repeated, n.maxDef+1, 1
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
