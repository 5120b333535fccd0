package key

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"reflect"
	"sync"
	"unsafe"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// encodingVersion is the second byte of every encoding. It changes with anything that
// changes the bytes of a value.
const encodingVersion = 2

// The layers begin what is hashed. They separate the hashes of values, operations,
// arguments and actions.
const (
	layerValue  byte = 1
	layerOp     byte = 2
	layerArgs   byte = 3
	layerAction byte = 4
)

const (
	spillAt   = 32 << 10 // bytes collected before they are hashed
	keepAtMax = 4 << 20  // largest buffer retained for reuse
)

// An encoder collects an encoding. If it streams, it passes the encoding to the hash in
// pieces, so that memory never has the whole encoding.
type encoder struct {
	buf     []byte
	hash    hash.Hash
	streams bool
	spilled bool // a part is already in hash
	apart   bool // ignore sharing, such as in memory allocated for the encoding

	depth int              // pointers, slices, maps and interfaces around the current value
	steps int              // number of those entered so far
	maps  []unsafe.Pointer // maps around the current value

	referents *referents         // memory to which the values so far refer; nil before the first
	opaque    *deepequal.Sharing // memory of values that encoded themselves; nil before the first

	methods map[reflect.Type][]any // methods that encoded values, by type; nil unless requested
}

var encoders = sync.Pool{New: func() any {
	return &encoder{buf: make([]byte, 0, 512), hash: sha256.New()}
}}

// newEncoder returns an encoder that streams and starts a layer. The caller frees it.
func newEncoder(layer byte) *encoder {
	e := encoders.Get().(*encoder)
	e.streams = true
	e.buf = append(e.buf[:0], layer, encodingVersion)
	return e
}

// restart drops the encoding and starts another layer.
func (e *encoder) restart(layer byte) {
	if e.spilled {
		e.hash.Reset()
	}
	e.buf, e.spilled, e.steps = append(e.buf[:0], layer, encodingVersion), false, 0
	e.referents.reset()
	e.opaque = nil
}

func (e *encoder) free() {
	if e.spilled {
		e.hash.Reset()
	}
	if cap(e.buf) > keepAtMax {
		e.buf = nil
	}
	clear(e.maps[:cap(e.maps)])
	e.referents.reset()
	*e = encoder{buf: e.buf[:0], hash: e.hash, maps: e.maps[:0], referents: e.referents}
	encoders.Put(e)
}

// spill passes the collected bytes to the hash if there are many.
func (e *encoder) spill() {
	if len(e.buf) >= spillAt && e.streams {
		e.flush()
	}
}

func (e *encoder) flush() {
	e.hash.Write(e.buf)
	e.buf, e.spilled = e.buf[:0], true
}

func (e *encoder) sum() (sum [sha256.Size]byte) {
	if !e.spilled {
		return sha256.Sum256(e.buf)
	}
	e.flush()
	return [sha256.Size]byte(e.hash.Sum(e.buf))
}

// raw appends bytes as they are. It hashes many bytes in place.
func (e *encoder) raw(b []byte) {
	if !e.streams || len(b) < spillAt {
		e.buf = append(e.buf, b...)
		e.spill()
		return
	}
	e.flush()
	e.hash.Write(b)
}

func (e *encoder) digest() (d Digest) {
	sum := e.sum()
	d[0] = tagDigest
	copy(d[1:], sum[:])
	return d
}

func (e *encoder) uint32(u uint32) { e.buf = binary.LittleEndian.AppendUint32(e.buf, u) }

func (e *encoder) uint64(u uint64) { e.buf = binary.LittleEndian.AppendUint64(e.buf, u) }

func (e *encoder) length(n int) { e.uvarint(uint64(n)) }

func (e *encoder) uvarint(u uint64) { e.buf = binary.AppendUvarint(e.buf, u) }

func (e *encoder) string(s string) {
	e.length(len(s))
	e.raw(unsafe.Slice(unsafe.StringData(s), len(s)))
}
