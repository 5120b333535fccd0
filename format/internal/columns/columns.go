// Package columns is about tables whose columns have types, Parquet and Arrow: how a value of a
// column is an item.
//
// A value is a number, a text, bytes, a truth value or nil, or a list or a mapping of such, as
// documents have them. Lists of numbers are arrays, if all of them are as long as each other.
package columns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
)

// Formats says how the bytes or texts of columns are read: item to extension.
type Formats map[string]string

// Check refuses what is no extension.
func (f Formats) Check() error {
	for item, ext := range f {
		if err := dataset.CheckExt(ext); err != nil {
			return fmt.Errorf("formats: %s: %w", item, err)
		}
	}
	return nil
}

// Item is a value of a column as an item: bytes as they are, an array, or else a document. A text
// is one, too, unless an extension was given for it. A document is JSON, or YAML if a float in it is
// infinite or no number. isDocument says that a text is JSON.
func (f Formats) Item(name string, v any, isDocument bool) (*dataset.Item, error) {
	ext, said := f[name]
	switch v := v.(type) {
	case []byte:
		if !said {
			ext = "bin"
		}
		return dataset.NewBytes(ext, v), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, errors.New("it is no UTF-8, as texts are")
		}
		if said {
			return dataset.NewBytes(ext, []byte(v)), nil
		}
		if isDocument {
			return dataset.CheckedBytes("json", []byte(v))
		}
	case float64:
		if !isFinite(v) { // an array, so that a table keeps it with its type
			a, err := array.New(array.Float64, nil, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			return dataset.NewItem("npy", a), err
		}
	case *array.Array:
		return dataset.NewItem("npy", v), nil
	}
	if isFinite(v) {
		return dataset.NewItem("json", v), nil
	}
	return dataset.NewItem("yaml", v), nil // which has the floats that JSON has not
}

// isFinite reports whether no float in a document is infinite or no number.
func isFinite(v any) bool {
	switch v := v.(type) {
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case []any:
		for _, e := range v {
			if !isFinite(e) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !isFinite(e) {
				return false
			}
		}
	}
	return true
}

// Shape returns the shape of lists in lists that all have numbers in them, by how deep each
// number begins: 0 is the first of all, 1 the first of a list in the outermost one, and depth a
// number that follows another. ok is false if lists that lie side by side are not of one length.
func Shape(begins []byte, depth int) (shape []int, ok bool) {
	starts := make([]int, depth+1) // how many begin at most so deep
	for _, b := range begins {
		if int(b) > depth {
			return nil, false
		}
		starts[b]++
	}
	for k := 1; k <= depth; k++ {
		starts[k] += starts[k-1]
	}
	shape = make([]int, depth)
	for k := range depth {
		if starts[k] == 0 || len(begins)%starts[k] != 0 {
			return nil, false
		}
		shape[k] = starts[k+1] / starts[k]
	}
	strides := make([]int, depth+1)
	for k := range strides {
		strides[k] = len(begins) / starts[k]
	}
	for i, b := range begins {
		if at := slices.IndexFunc(strides, func(s int) bool { return i%s == 0 }); at != int(b) {
			return nil, false
		}
	}
	return shape, true
}
