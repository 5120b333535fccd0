// Package columns converts between items and the typed columns of tables (Parquet and
// Arrow).
//
// A value is a number, a string, bytes, a boolean or nil, or a list or mapping of these,
// as in documents. Lists of numbers are arrays, if all of them have equal length.
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

// Formats maps items to the extensions of the bytes or strings in their columns.
type Formats map[string]string

// Check refuses unknown extensions.
func (f Formats) Check() error {
	for item, ext := range f {
		if err := dataset.CheckExt(ext); err != nil {
			return fmt.Errorf("formats: %s: %w", item, err)
		}
	}
	return nil
}

// Item returns a column value as an item: unchanged bytes, an array, or else a document.
// A string is a document, too, unless it has an extension. A document is JSON, or YAML
// if it has an infinite or NaN float. isDocument says that a string is JSON.
func (f Formats) Item(name string, v any, isDocument bool) (*dataset.Item, error) {
	ext, given := f[name]
	switch v := v.(type) {
	case []byte:
		if !given {
			ext = "bin"
		}
		return dataset.NewBytes(ext, v), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, errors.New("not UTF-8")
		}
		if given {
			return dataset.NewBytes(ext, []byte(v)), nil
		}
		if isDocument {
			return dataset.CheckedBytes("json", []byte(v))
		}
	case float64:
		if !isFinite(v) { // an array, so that a table preserves its type
			a, err := array.New(array.Float64, nil, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			return dataset.NewItem("npy", a), err
		}
	case *array.Array:
		return dataset.NewItem("npy", v), nil
	}
	if isFinite(v) {
		return dataset.NewItem("json", v), nil
	}
	return dataset.NewItem("yaml", v), nil // YAML has the floats that JSON lacks
}

// isFinite reports whether a document has no infinite or NaN float.
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

// Shape returns the shape of nested lists of numbers. begins has the depth at which each
// number begins: 0 for the first of all, 1 for the first of a list in the outermost one,
// and depth for a number that follows another. ok is false if lists at one depth have
// different lengths.
func Shape(begins []byte, depth int) (shape []int, ok bool) {
	starts := make([]int, depth+1) // how many begin at most at each depth
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
