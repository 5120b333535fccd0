package stream

import (
	"encoding/binary"
	"slices"
)

// pack encodes an entry for the spool: its branch, the mark, the element.
func (t *trunk[T]) pack(e entry[T]) ([]byte, error) {
	b := appendText(binary.AppendUvarint(nil, uint64(e.whose)), e.mark)
	return t.Codec.Encode(b, e.value)
}

func (t *trunk[T]) unpack(record []byte) (e entry[T], err error) {
	m := &marks{b: record, any: true}
	e.whose = m.below(max(t.n, 1))
	e.mark = slices.Clone(m.text())
	if m.err != nil {
		return e, errSpool
	}
	e.value, err = t.Codec.Decode(m.b)
	return e, err
}
