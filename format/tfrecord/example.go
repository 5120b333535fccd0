package tfrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A feature is a named list of one of three kinds, as in tensorflow.Example.
type feature struct {
	name   string
	kind   kind
	texts  [][]byte
	ints   []int64
	floats []float32
}

type kind uint8

// The kinds of lists, by their numbers in tensorflow.Feature.
const (
	noKind kind = iota
	ofBytes
	ofFloats
	ofInts
)

var errExample = errors.New("not a tf.train.Example")

// errSequence is the error of a message whose context has the field number of an
// Example's features, so that its lists would be lost.
var errSequence = errors.New("tf.train.SequenceExample is not supported; write tf.train.Example")

// parseExample parses a tensorflow.Example: features (1) of features (1), a map from
// names (1) to features (2). The result shares the bytes.
func parseExample(b []byte) (all []feature, err error) {
	err = fields(b, func(number protowire.Number, features []byte) error {
		if number == 2 {
			return errSequence
		}
		if number != 1 {
			return nil
		}
		return fields(features, func(number protowire.Number, entry []byte) error {
			if number != 1 {
				return nil
			}
			f, err := parseEntry(entry)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(all, func(o feature) bool { return o.name == f.name }); i >= 0 {
				all[i] = f // the last entry of a key counts
				return nil
			}
			all = append(all, f)
			return nil
		})
	})
	// Maps have no order, and equal features must give equal samples.
	slices.SortFunc(all, func(a, b feature) int { return strings.Compare(a.name, b.name) })
	return all, err
}

func parseEntry(entry []byte) (f feature, err error) {
	err = fields(entry, func(number protowire.Number, b []byte) error {
		switch number {
		case 1:
			f.name = string(b)
		case 2:
			return fields(b, f.list)
		}
		return nil
	})
	return f, err
}

// list reads the list of a feature: values (1), packed or one by one.
func (f *feature) list(number protowire.Number, list []byte) error {
	k := kind(number)
	if number < 1 || k > ofInts {
		return nil
	}
	*f = feature{name: f.name, kind: k} // the last list counts
	for len(list) > 0 {
		number, wire, n := protowire.ConsumeTag(list)
		if n < 0 {
			return errExample
		}
		list = list[n:]
		if n = protowire.ConsumeFieldValue(number, wire, list); n < 0 {
			return errExample
		}
		value := list[:n]
		list = list[n:]
		if number != 1 {
			continue
		}
		if err := f.value(wire, value); err != nil {
			return err
		}
	}
	return nil
}

func (f *feature) value(wire protowire.Type, value []byte) error {
	packed, n := value, 0
	if wire == protowire.BytesType {
		if packed, n = protowire.ConsumeBytes(value); n < 0 {
			return errExample
		}
	}
	switch {
	case f.kind == ofBytes && wire == protowire.BytesType:
		f.texts = append(f.texts, packed)
		return nil
	case f.kind == ofInts && (wire == protowire.BytesType || wire == protowire.VarintType):
		for len(packed) > 0 {
			v, n := protowire.ConsumeVarint(packed)
			if n < 0 {
				return errExample
			}
			f.ints, packed = append(f.ints, int64(v)), packed[n:]
		}
		return nil
	case f.kind == ofFloats && (wire == protowire.BytesType || wire == protowire.Fixed32Type) && len(packed)%4 == 0:
		for ; len(packed) > 0; packed = packed[4:] {
			f.floats = append(f.floats, math.Float32frombits(binary.LittleEndian.Uint32(packed)))
		}
		return nil
	}
	return fmt.Errorf("%w: feature %q has values of another type than its list", errExample, f.name)
}

// fields calls f for each field of a message that has bytes, and skips others.
func fields(b []byte, f func(number protowire.Number, value []byte) error) error {
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errExample
		}
		b = b[n:]
		if wire != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, wire, b); n < 0 {
				return errExample
			}
			b = b[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return errExample
		}
		b = b[n:]
		if err := f(number, value); err != nil {
			return err
		}
	}
	return nil
}

// encodeExample is the reverse of parseExample.
func encodeExample(all []feature) []byte {
	var features []byte
	for _, f := range all {
		entry := protowire.AppendTag(nil, 1, protowire.BytesType)
		entry = protowire.AppendString(entry, f.name)
		entry = protowire.AppendTag(entry, 2, protowire.BytesType)
		entry = protowire.AppendBytes(entry, f.message())
		features = protowire.AppendTag(features, 1, protowire.BytesType)
		features = protowire.AppendBytes(features, entry)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), features)
}

// message encodes a tensorflow.Feature.
func (f feature) message() []byte {
	var list []byte
	switch f.kind {
	case ofBytes:
		for _, t := range f.texts {
			list = protowire.AppendTag(list, 1, protowire.BytesType)
			list = protowire.AppendBytes(list, t)
		}
	case ofInts:
		var packed []byte
		for _, v := range f.ints {
			packed = protowire.AppendVarint(packed, uint64(v))
		}
		list = protowire.AppendTag(list, 1, protowire.BytesType)
		list = protowire.AppendBytes(list, packed)
	case ofFloats:
		packed := make([]byte, 0, 4*len(f.floats))
		for _, v := range f.floats {
			packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(v))
		}
		list = protowire.AppendTag(list, 1, protowire.BytesType)
		list = protowire.AppendBytes(list, packed)
	default:
		return nil
	}
	b := protowire.AppendTag(nil, protowire.Number(f.kind), protowire.BytesType)
	return protowire.AppendBytes(b, list)
}
