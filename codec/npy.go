package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/larder-data/larder/array"
)

// npyCodec reads NumPy's format, versions 1 to 3, as an *array.Array. It shares the bytes
// of the file if they are little-endian and in C order, and is otherwise a converted copy.
// Arrays of strings, dates, records, long doubles and Python objects are errors that tell
// how to save them.
var npyCodec = Codec{
	Name:       "npy",
	Extensions: []string{"npy"},
	Lossless:   true,
	Decode: func(b []byte) (any, error) {
		a, err := decodeNPY(b)
		if err != nil {
			return nil, fmt.Errorf("npy: %w", err)
		}
		return a, nil
	},
	Check: func(b []byte) error {
		if _, _, _, _, err := openNPY(b); err != nil { //nolint:dogsled // the array is not wanted
			return fmt.Errorf("npy: %w", err)
		}
		return nil
	},
	Encode: encodeAnyNPY,
}

func encodeAnyNPY(v any) ([]byte, error) {
	switch v := v.(type) {
	case *array.Array:
		if v != nil {
			return encodeNPY(*v)
		}
	case array.Array:
		return encodeNPY(v)
	}
	return nil, unsupported("npy", v, "an array")
}

const (
	npyMagic = "\x93NUMPY"
	npyAlign = 64 // of the data, from the start of the file
)

// openNPY returns the header, and the data, checked for its length.
func openNPY(b []byte) (h npyHeader, dtype array.DType, bigEndian bool, data []byte, err error) {
	text, data, err := splitNPY(b)
	if err == nil {
		h, err = parseNPYHeader(text)
	}
	if err == nil {
		dtype, bigEndian, err = npyType(h.descr)
	}
	if err != nil {
		return h, dtype, bigEndian, nil, err
	}
	size, err := array.Bytes(dtype, h.shape)
	if err == nil && size != len(data) {
		err = fmt.Errorf("%v of shape %v needs %d bytes, but there are %d", dtype, h.shape, size, len(data))
	}
	return h, dtype, bigEndian, data, err
}

func decodeNPY(b []byte) (*array.Array, error) {
	h, dtype, bigEndian, data, err := openNPY(b)
	if err != nil {
		return nil, err
	}
	if h.fortran {
		if data, err = array.InOrder(data, h.shape, firstFastest(h.shape), dtype.Size()); err != nil {
			return nil, err
		}
	}
	if bigEndian {
		if !h.fortran {
			data = bytes.Clone(data)
		}
		array.SwapBytes(data, dtype.Word())
	}
	return array.New(dtype, h.shape, data)
}

// firstFastest returns the strides, in elements, of an array in Fortran order.
func firstFastest(shape []int) []int {
	strides, stride := make([]int, len(shape)), 1
	for i, n := range shape {
		strides[i] = stride
		stride *= n
	}
	return strides
}

// splitNPY returns the text of the header, and the data after it.
func splitNPY(b []byte) (header, data []byte, err error) {
	if !bytes.HasPrefix(b, []byte(npyMagic)) || len(b) < 10 {
		return nil, nil, errors.New("not a NumPy file; the first bytes are not \\x93NUMPY")
	}
	start, length := 10, uint64(binary.LittleEndian.Uint16(b[8:]))
	switch version := b[6]; {
	case version == 1:
	case (version == 2 || version == 3) && len(b) >= 12:
		start, length = 12, uint64(binary.LittleEndian.Uint32(b[8:]))
	case version == 2 || version == 3:
		return nil, nil, errors.New("the header is truncated")
	default:
		return nil, nil, fmt.Errorf("unknown format version %d; expected 1 to 3", version)
	}
	if length > uint64(len(b)-start) {
		return nil, nil, errors.New("the header is truncated")
	}
	end := start + int(length)
	return b[start:end], b[end:len(b):len(b)], nil
}

var npyKinds = map[string]array.DType{
	"b1": array.Bool,
	"u1": array.Uint8, "u2": array.Uint16, "u4": array.Uint32, "u8": array.Uint64,
	"i1": array.Int8, "i2": array.Int16, "i4": array.Int32, "i8": array.Int64,
	"f2": array.Float16, "f4": array.Float32, "f8": array.Float64,
	"c8": array.Complex64, "c16": array.Complex128,
}

// npyType parses NumPy's name of a type: byte order, kind, bytes.
func npyType(descr string) (d array.DType, bigEndian bool, err error) {
	order, kind := "", descr
	if descr != "" && strings.Contains("<>|=", descr[:1]) {
		order, kind = descr[:1], descr[1:]
	}
	if d, ok := npyKinds[kind]; ok {
		return d, order == ">", nil
	}
	return 0, false, npyRefusal(descr, kind)
}

// npyRefusal explains why elements of a type are not read, and what to do.
func npyRefusal(descr, kind string) error {
	first := ""
	if kind != "" {
		first = kind[:1]
	}
	switch first {
	case "O":
		return errors.New("an array of Python objects is not read, as decoding could run code; save a numeric type")
	case "U", "S", "a":
		return fmt.Errorf("an array of strings (%s) is not supported; save array.tolist() as JSON, or as lines of text", descr)
	case "M":
		return fmt.Errorf("an array of dates (%s) is not supported; save array.astype('int64') and the unit", descr)
	case "m":
		return fmt.Errorf("an array of durations (%s) is not supported; save array.astype('int64') and the unit", descr)
	case "V":
		return fmt.Errorf("an array of raw bytes or records (%s) is not supported; save array.view('uint8')", descr)
	case "f", "c":
		return fmt.Errorf("an array of platform-dependent numbers (%s) is not supported; save array.astype('float64') or 'complex128'", descr)
	}
	return fmt.Errorf("unknown element type %q; save a numeric type", descr)
}

func npyDescr(d array.DType) (string, error) {
	for kind, known := range npyKinds {
		if known == d && d.Size() == 1 {
			return "|" + kind, nil
		} else if known == d {
			return "<" + kind, nil
		}
	}
	return "", fmt.Errorf("npy: NumPy has no %v; convert to float32", d)
}

// encodeNPY writes format version 1.
func encodeNPY(a array.Array) ([]byte, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	descr, err := npyDescr(a.DType)
	if err != nil {
		return nil, err
	}
	var dims strings.Builder
	for _, n := range a.Shape {
		dims.WriteString(strconv.Itoa(n) + ", ")
	}
	shape := strings.TrimSuffix(dims.String(), " ")
	if len(a.Shape) > 1 {
		shape = strings.TrimSuffix(shape, ",")
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	const before = len(npyMagic) + 4
	pad := npyAlign - (before+len(header)+1)%npyAlign
	length := len(header) + pad + 1
	dst := append(make([]byte, 0, before+length+len(a.Data)), npyMagic+"\x01\x00"...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(length))
	dst = append(dst, header+strings.Repeat(" ", pad)+"\n"...)
	return append(dst, a.Data...), nil
}

// An NPYHead is the position and layout of the elements in a NumPy file.
type NPYHead struct {
	DType     array.DType
	Shape     []int
	Offset    int64 // of the first element in the file
	BigEndian bool
	Fortran   bool // the first index varies fastest
}

// NPYHeadBytes is the greatest size of a head.
const NPYHeadBytes = 1 << 16

// ReadNPYHead reads the head of a file from its first bytes: [NPYHeadBytes] of them, or the
// whole file if it is shorter.
func ReadNPYHead(first []byte) (h NPYHead, err error) {
	text, _, err := splitNPY(first)
	var head npyHeader
	if err == nil {
		head, err = parseNPYHeader(text)
	}
	if err == nil {
		h.DType, h.BigEndian, err = npyType(head.descr)
	}
	if err != nil {
		return h, fmt.Errorf("npy: %w", err)
	}
	h.Shape, h.Fortran = head.shape, head.fortran
	h.Offset = int64(bytes.Index(first, text) + len(text))
	return h, nil
}
