package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Encodings of values.
const (
	encPlain       = 0
	encPlainDict   = 2
	encRLE         = 3
	encDeltaInts   = 5
	encDeltaLength = 6
	encDeltaBytes  = 7
	encDict        = 8
	encSplit       = 9
)

// A vector is values of fixed width, little-endian, or of variable length, or indices
// into another vector.
type vector struct {
	width int
	data  []byte
	ends  []uint32 // of values of variable length
	dict  *vector
	index []uint32 // into dict
}

// len returns the number of values.
func (v *vector) len() int {
	switch {
	case v.dict != nil:
		return len(v.index)
	case v.width == 0:
		return len(v.ends)
	}
	return len(v.data) / v.width
}

// at returns a value.
func (v *vector) at(i int) []byte {
	if v.dict != nil {
		v, i = v.dict, int(v.index[i])
	}
	if v.width > 0 {
		return v.data[i*v.width : (i+1)*v.width]
	}
	from := uint32(0)
	if i > 0 {
		from = v.ends[i-1]
	}
	return v.data[from:v.ends[i]]
}

// bytes estimates the memory of the vector, without its dictionary.
func (v *vector) bytes() int { return len(v.data) + 4*len(v.ends) + 4*len(v.index) }

var errValues = errors.New("the values of a page are damaged")

// decode reads n values of a column.
func decode(leaf *node, encoding, n int, b []byte, dict *vector) (*vector, error) {
	switch {
	case encoding == encPlain:
		return decodePlain(leaf, n, b)
	case encoding == encDict || encoding == encPlainDict:
		return decodeIndex(n, b, dict)
	case encoding == encRLE && leaf.physical == physBool:
		if len(b) < 4 {
			return nil, errValues
		}
		data, err := decodeRuns(1, n, b[4:])
		return &vector{width: 1, data: data}, err
	case encoding == encDeltaInts && (leaf.physical == physInt32 || leaf.physical == physInt64):
		ints, _, err := decodeDelta(n, b)
		if err != nil {
			return nil, err
		}
		data := make([]byte, 0, n*leaf.width)
		for _, v := range ints {
			if leaf.width == 4 {
				data = binary.LittleEndian.AppendUint32(data, uint32(v))
			} else {
				data = binary.LittleEndian.AppendUint64(data, uint64(v))
			}
		}
		return &vector{width: leaf.width, data: data}, nil
	case encoding == encDeltaLength && leaf.physical == physBytes:
		return decodeDeltaLength(n, b)
	case encoding == encDeltaBytes && (leaf.physical == physBytes || leaf.physical == physFixed):
		return decodeDeltaBytes(leaf, n, b)
	case encoding == encSplit && leaf.width > 0 && leaf.physical != physBool:
		return decodeSplit(leaf.width, n, b)
	}
	return nil, fmt.Errorf("page encoding %d is not supported for its type", encoding)
}

func decodePlain(leaf *node, n int, b []byte) (*vector, error) {
	switch {
	case leaf.physical == physBool:
		if len(b) < (n+7)/8 {
			return nil, errValues
		}
		data := make([]byte, n)
		for i := range data {
			data[i] = b[i/8] >> (i % 8) & 1
		}
		return &vector{width: 1, data: data}, nil
	case leaf.width > 0:
		if len(b)/leaf.width < n {
			return nil, errValues
		}
		return &vector{width: leaf.width, data: b[:n*leaf.width]}, nil
	}
	v := &vector{ends: make([]uint32, n), data: make([]byte, 0, max(0, len(b)-4*n))}
	for i := range n {
		if len(b) < 4 {
			return nil, errValues
		}
		size := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(size) > uint64(len(b)) {
			return nil, errValues
		}
		v.data, b = append(v.data, b[:size]...), b[size:]
		v.ends[i] = uint32(len(v.data))
	}
	return v, nil
}

// decodeIndex reads indices into a dictionary.
func decodeIndex(n int, b []byte, dict *vector) (*vector, error) {
	if dict == nil {
		return nil, errors.New("a page refers to a missing dictionary")
	}
	if n == 0 {
		return &vector{dict: dict}, nil
	}
	if len(b) == 0 {
		return nil, errValues
	}
	index, err := decodeRunsOf[uint32](int(b[0]), n, b[1:])
	if err != nil {
		return nil, err
	}
	size := uint32(dict.len())
	for _, k := range index {
		if k >= size {
			return nil, errValues
		}
	}
	return &vector{dict: dict, index: index}, nil
}

func decodeRuns(width, n int, b []byte) ([]byte, error) { return decodeRunsOf[byte](width, n, b) }

// decodeRunsOf reads n integers of width bits, which are run-length encoded or
// bit-packed in groups of eight.
func decodeRunsOf[T byte | uint32](width, n int, b []byte) ([]T, error) {
	if width > 32 {
		return nil, errValues
	}
	out := make([]T, n)
	for i := 0; i < n; {
		head, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errValues
		}
		b = b[size:]
		count := head >> 1
		if head&1 == 0 {
			if count == 0 || len(b) < (width+7)/8 {
				return nil, errValues
			}
			var v T
			for k := range (width + 7) / 8 {
				v |= T(uint32(b[k]) << (8 * k))
			}
			b = b[(width+7)/8:]
			for end := i + int(min(count, uint64(n-i))); i < end; i++ {
				out[i] = v
			}
			continue
		}
		if count == 0 {
			return nil, errValues
		}
		count = min(count, uint64(n)) // of eight numbers each: DuckDB fills up the last run
		all := min(8*int(count), n-i)
		if len(b) < (all*width+7)/8 {
			return nil, errValues
		}
		for k := range all {
			out[i+k] = T(bitsAt(b, k*width, width))
		}
		i += all
		b = b[min(len(b), int(count)*width):]
	}
	return out, nil
}

// bitsAt returns an integer of at most 64 bits that begins at a bit.
func bitsAt(b []byte, at, width int) (v uint64) {
	for done := 0; done < width; {
		k := (at + done) / 8
		shift := (at + done) % 8
		take := min(8-shift, width-done)
		v |= uint64(b[k]>>shift&byte(1<<take-1)) << done
		done += take
	}
	return v
}

// decodeDelta reads n delta-encoded integers, and returns the bytes after them.
func decodeDelta(n int, b []byte) (all []int64, rest []byte, err error) {
	next := func() uint64 {
		v, size := binary.Uvarint(b)
		if size <= 0 {
			err = errValues
			return 0
		}
		b = b[size:]
		return v
	}
	signed := func() int64 {
		v := next()
		return int64(v>>1) ^ -int64(v&1)
	}
	block, minis, total, last := next(), next(), next(), signed()
	if err != nil || total != uint64(n) || block == 0 || block > 1<<20 || minis == 0 || minis > block || block%minis != 0 || block/minis%8 != 0 {
		return nil, nil, errValues
	}
	mini := int(block / minis)
	all = make([]int64, 0, n)
	if n > 0 {
		all = append(all, last)
	}
	for len(all) < n {
		least := signed()
		if err != nil || uint64(len(b)) < minis {
			return nil, nil, errValues
		}
		widths := b[:minis]
		b = b[minis:]
		for _, w := range widths {
			if len(all) == n {
				break // unneeded blocks were not written
			}
			width := int(w)
			if width > 64 || len(b) < mini/8*width {
				return nil, nil, errValues
			}
			for k := range min(mini, n-len(all)) {
				last += least + int64(bitsAt(b, k*width, width))
				all = append(all, last)
			}
			b = b[mini/8*width:]
		}
	}
	return all, b, nil
}

// decodeLengths reads n lengths, and returns their sum, which is bounded.
func decodeLengths(n int, b []byte) (lengths []int64, sum int, rest []byte, err error) {
	if lengths, rest, err = decodeDelta(n, b); err != nil {
		return nil, 0, nil, err
	}
	for _, l := range lengths {
		if l < 0 || l > maxPage-int64(sum) {
			return nil, 0, nil, errValues
		}
		sum += int(l)
	}
	return lengths, sum, rest, nil
}

func decodeDeltaLength(n int, b []byte) (*vector, error) {
	lengths, sum, rest, err := decodeLengths(n, b)
	if err != nil || sum > len(rest) {
		return nil, errValues
	}
	v := &vector{ends: make([]uint32, n), data: rest[:sum]}
	end := uint32(0)
	for i, l := range lengths {
		end += uint32(l)
		v.ends[i] = end
	}
	return v, nil
}

// decodeDeltaBytes reads strings with prefixes shared with the previous ones.
func decodeDeltaBytes(leaf *node, n int, b []byte) (*vector, error) {
	prefixes, sum, rest, err := decodeLengths(n, b)
	if err != nil {
		return nil, err
	}
	tails, err := decodeDeltaLength(n, rest)
	if err != nil || sum > maxPage-len(tails.data) {
		return nil, errValues
	}
	v := &vector{ends: make([]uint32, n)}
	var last []byte
	for i, p := range prefixes {
		if p > int64(len(last)) {
			return nil, errValues
		}
		from := len(v.data)
		v.data = append(append(v.data, last[:p]...), tails.at(i)...)
		last = v.data[from:]
		v.ends[i] = uint32(len(v.data))
		if leaf.width > 0 && len(last) != leaf.width {
			return nil, errValues
		}
	}
	if leaf.width > 0 {
		v.width, v.ends = leaf.width, nil
	}
	return v, nil
}

// decodeSplit reads numbers in the encoding BYTE_STREAM_SPLIT: the first bytes of all,
// then the second ones.
func decodeSplit(width, n int, b []byte) (*vector, error) {
	if len(b)/width < n {
		return nil, errValues
	}
	data := make([]byte, n*width)
	for k := range width {
		for i := range n {
			data[i*width+k] = b[k*n+i]
		}
	}
	return &vector{width: width, data: data}, nil
}

// levelBits returns the number of bits of levels up to most.
func levelBits(most int) int { return bits.Len(uint(most)) }
