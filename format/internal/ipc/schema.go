package ipc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/internal/text/display"
)

// The types of fields.
const (
	isNull       = 1
	isInt        = 2
	isFloat      = 3
	isBinary     = 4
	isText       = 5
	isBool       = 6
	isDecimal    = 7
	isDate       = 8
	isTime       = 9
	isTimestamp  = 10
	isList       = 12
	isStruct     = 13
	isFixed      = 15
	isFixedList  = 16
	isMap        = 17
	isDuration   = 18
	isBigBinary  = 19
	isBigText    = 20
	isBigList    = 21
	isBinaryView = 23
	isTextView   = 24
)

// A Field is a column, or a part of one.
type Field struct {
	Name string
	// Kind is the name of an extension type, from the metadata of the field, or "".
	Kind string

	kind     int
	children []*Field
	width    int     // bytes of a value of fixed size
	size     int     // of lists of fixed size
	tensor   *tensor // tensor extension of such a list, or nil
	unsigned bool
	scale    int
	unit     int // decimal digits of a second
	utc      bool
	dict     *Field // values of a dictionary-encoded field, or nil
	dictID   int64
}

const (
	maxDepth  = 64
	maxFields = 1 << 16
)

// fieldsOf reads the fields of a schema.
func fieldsOf(schema table) ([]*Field, error) {
	if schema.int(0, 2, 0) != 0 {
		return nil, errors.New("big-endian numbers are not supported; write on a little-endian machine")
	}
	left := maxFields
	fields, err := readFields(schema.tables(1), 0, &left)
	if err == nil {
		err = *schema.fail
	}
	return fields, err
}

func readFields(tables []table, depth int, left *int) (all []*Field, err error) {
	if depth > maxDepth {
		return nil, errDamaged
	}
	for _, t := range tables {
		if *left--; *left < 0 || *t.fail != nil {
			return nil, errDamaged
		}
		f := &Field{Name: t.text(0), kind: int(t.int(2, 1, 0))}
		if !utf8.ValidString(f.Name) {
			return nil, fmt.Errorf("column name %q is not UTF-8: the schema is damaged", f.Name)
		}
		parameters := ""
		for _, kv := range t.tables(6) {
			switch kv.text(0) {
			case "ARROW:extension:name":
				f.Kind = kv.text(1)
			case "ARROW:extension:metadata":
				parameters = kv.text(1)
			}
		}
		if f.children, err = readFields(t.tables(5), depth+1, left); err != nil {
			return nil, err
		}
		kind, _ := t.table(3)
		if err := f.read(kind); err != nil {
			return nil, fmt.Errorf("column %s: %w", display.Name(f.Name), err)
		}
		if f.Kind == "arrow.fixed_shape_tensor" && f.kind == isFixedList {
			if f.tensor, err = tensorOf(parameters, f.size); err != nil {
				return nil, fmt.Errorf("column %s: %w", display.Name(f.Name), err)
			}
		}
		if d, ok := t.table(4); ok {
			f = &Field{Name: f.Name, Kind: f.Kind, dict: f, dictID: d.int(0, 8, 0), kind: isInt, width: 4}
			if index, ok := d.table(1); ok {
				if err := f.read(index); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// A tensor maps a list of fixed size to an array: Arrow's canonical extension
// arrow.fixed_shape_tensor.
type tensor struct {
	shape   []int // with the permutation applied
	strides []int // elements from one index to the next one; nil in C order
}

// tensorOf reads the parameters of the extension, for lists of size elements.
func tensorOf(parameters string, size int) (*tensor, error) {
	var parsed struct{ Shape, Permutation []int }
	if err := json.Unmarshal([]byte(parameters), &parsed); err != nil || parsed.Shape == nil {
		return nil, fmt.Errorf("invalid tensor shape %q: the schema is damaged", parameters)
	}
	dims := len(parsed.Shape)
	strides, n := make([]int, dims), 1
	for i, dim := range slices.Backward(parsed.Shape) {
		strides[i] = n
		if n *= dim; dim < 0 || dim > math.MaxInt32 || n > math.MaxInt32 {
			return nil, errDamaged
		}
	}
	if n != size {
		return nil, fmt.Errorf("tensors have shape %v but %d elements: the schema is damaged", parsed.Shape, size)
	}
	if parsed.Permutation == nil {
		return &tensor{parsed.Shape, nil}, nil
	}
	if sorted := slices.Sorted(slices.Values(parsed.Permutation)); !slices.Equal(sorted, indices(dims)) {
		return nil, fmt.Errorf("%v is not a permutation of %d dimensions: the schema is damaged", parsed.Permutation, dims)
	}
	t := &tensor{make([]int, dims), make([]int, dims)}
	for i, from := range parsed.Permutation {
		t.shape[i], t.strides[i] = parsed.Shape[from], strides[from]
	}
	return t, nil
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// read returns an array of one dimension as the tensor.
func (t *tensor) read(a *array.Array) (*array.Array, error) {
	if t.strides == nil {
		return array.New(a.DType, t.shape, a.Data)
	}
	data, err := array.InOrder(a.Data, t.shape, t.strides, a.DType.Size())
	if err != nil {
		return nil, err
	}
	return array.New(a.DType, t.shape, data)
}

// read reads the parameters of a type.
func (f *Field) read(t table) error {
	children := 0
	switch f.kind {
	case isNull, isBinary, isText, isBigBinary, isBigText, isBinaryView, isTextView, isBool:
	case isInt:
		if f.width, f.unsigned = int(t.int(0, 4, 0))/8, !t.bool(1); f.width > 8 {
			return fmt.Errorf("integers of %d bits are not supported; convert to decimal or text", 8*f.width)
		}
	case isFloat:
		f.width = 2 << t.int(0, 2, 0)
	case isDecimal:
		f.width, f.scale = int(t.int(2, 4, 128))/8, int(t.int(1, 4, 0))
	case isDate:
		f.width, f.unit = 4, -1
		if t.int(0, 2, 1) == 1 {
			f.width, f.unit = 8, 3
		}
	case isTime:
		f.width, f.unit = int(t.int(1, 4, 32))/8, 3*int(t.int(0, 2, 1))
	case isTimestamp:
		f.width, f.unit, f.utc = 8, 3*int(t.int(0, 2, 0)), t.text(1) != ""
	case isDuration:
		f.width, f.unit = 8, 3*int(t.int(0, 2, 1))
	case isFixed:
		f.width = int(t.int(0, 4, 0))
	case isList, isBigList, isMap:
		children = 1
	case isFixedList:
		f.size, children = int(t.int(0, 4, 0)), 1
	case isStruct:
		children = len(f.children)
		names := map[string]bool{}
		for _, c := range f.children {
			if names[c.Name] {
				return fmt.Errorf("two fields are named %s; rename one", display.Name(c.Name))
			}
			names[c.Name] = true
		}
	default:
		return fmt.Errorf("type %d of Arrow is not supported (unions, intervals, runs, list views); convert to another type", f.kind)
	}
	if len(f.children) != children || f.size < 0 || f.width < 0 || f.width > 1<<20 || f.unit > 9 || !f.widthFits() {
		return errDamaged
	}
	if f.kind == isMap && (f.children[0].kind != isStruct || len(f.children[0].children) != 2) {
		return errDamaged
	}
	return nil
}

func (f *Field) widthFits() bool {
	switch f.kind {
	case isInt:
		return f.width == 1 || f.width == 2 || f.width == 4 || f.width == 8
	case isFloat:
		return f.width <= 8
	case isDecimal:
		return f.width == 4 || f.width == 8 || f.width == 16 || f.width == 32
	case isTime:
		return f.width == 4 || f.width == 8
	}
	return true
}

// number returns the element type of arrays of such values, or 0 if there is none.
func (f *Field) number() array.DType {
	if f.dict != nil {
		return 0
	}
	switch f.kind {
	case isBool:
		return array.Bool
	case isFloat:
		return map[int]array.DType{2: array.Float16, 4: array.Float32, 8: array.Float64}[f.width]
	case isInt:
		if f.unsigned {
			return map[int]array.DType{1: array.Uint8, 2: array.Uint16, 4: array.Uint32, 8: array.Uint64}[f.width]
		}
		return map[int]array.DType{1: array.Int8, 2: array.Int16, 4: array.Int32, 8: array.Int64}[f.width]
	}
	return 0
}

// buffers returns the number of a field's own buffers, without the variadic buffers of a
// view.
func (f *Field) buffers() int {
	switch f.kind {
	case isNull:
		return 0
	case isStruct, isFixedList:
		return 1
	case isBinary, isText, isBigBinary, isBigText:
		return 3
	}
	return 2
}
