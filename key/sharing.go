package key

import (
	"encoding/binary"
	"math"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/larder-data/larder/internal/values/deepequal"
)

// A referent is memory that pointers, slices or maps of a value refer to, as values of one
// type. It has an address instead of a pointer: the encoded value retains the memory,
// and there may be many referents.
type referent struct {
	at   uintptr
	len  int // of a slice, or byPointer or byMap
	elem uintptr
}

// Values of referent.len for other references than slices.
const (
	byPointer = -1
	byMap     = -2
)

func typeID(t reflect.Type) uintptr { return uintptr((*face)(unsafe.Pointer(&t)).data) }

// A meeting says how a referent was encoded before.
type meeting byte

const (
	never  meeting = iota
	partly         // as the pixels of an image, without those outside of its bounds
	wholly
)

// referents numbers the referents of a value in the order of their first occurrence, so that
// later ones are references to the first. It has its own hash table: a value may
// consist of pointers, and a map takes several times as long.
type referents struct {
	slots []spot // a power of two, at most half of them used
	used  int
	round uint32 // in which slots are used
	total int    // meetings
	again int    // number of those with a known referent

	logs bool // log records which these are
	log  []byte
}

// A spot is an entry of referents. It is valid only in its own round, so that a large
// table need not be cleared after a few referents.
type spot struct {
	referent
	round  uint32
	number uint32 // twice that of the referent, plus 1 if it was met wholly
}

// Initial number of slots, and the most that are retained for reuse.
const (
	firstSlots = 16
	keepSlots  = keepAtMax / int(unsafe.Sizeof(spot{}))
)

// reset removes all referents. It invalidates the slots by a new round.
func (s *referents) reset() {
	if s == nil {
		return
	}
	next := referents{slots: s.slots, round: s.round + 1}
	if len(next.slots) > keepSlots || next.round == 0 {
		next = referents{round: 1}
	}
	*s = next
}

// find returns the spot of a referent, or the free one for it.
func (s *referents) find(p referent) *spot {
	const golden = 0x9e3779b97f4a7c15 // spreads differences in few bits over all
	mask := uint64(len(s.slots) - 1)
	h := (uint64(p.at)+uint64(p.len))*golden ^ uint64(p.elem)
	h = h * golden >> 32
	for i := h & mask; ; i = (i + 1) & mask {
		if at := &s.slots[i]; at.round != s.round || at.referent == p {
			return at
		}
	}
}

func (s *referents) grow() {
	if 2*s.used < len(s.slots) {
		return
	}
	old := s.slots
	s.slots = make([]spot, max(firstSlots, 4*len(old)))
	for _, was := range old {
		if was.round == s.round {
			*s.find(was.referent) = was
		}
	}
}

// meet records a reference to a referent that now says how to encode. It returns the
// referent's number and how it was encoded before.
func (e *encoder) meet(p referent, now meeting) (number int, before meeting) {
	if e.apart {
		return 0, never
	}
	if e.referents == nil {
		e.referents = &referents{round: 1}
	}
	s := e.referents
	s.total++
	s.grow()
	at := s.find(p)
	if at.round != s.round {
		*at = spot{p, s.round, uint32(s.used) << 1}
		s.used++
	} else {
		before = partly + meeting(at.number&1)
		s.met(at.number >> 1)
	}
	if now == wholly {
		at.number |= 1
	}
	return int(at.number >> 1), before
}

func (s *referents) met(number uint32) {
	s.again++
	if s.logs {
		s.log = binary.AppendUvarint(s.log, uint64(s.total))
		s.log = binary.AppendUvarint(s.log, uint64(number))
	}
}

// sharingPart describes which pointers, slices and maps of values are the same, if any.
// The parts of the values do not show this.
func sharingPart(kind string, encode func(*encoder) error) []Part {
	e := newEncoder(layerValue)
	defer e.free()
	e.referents = &referents{round: 1, logs: true}
	if err := encode(e); err != nil || !e.referents.shared() {
		return nil
	}
	return []Part{{
		Kind: kind, Name: "what is shared", Digest: DigestOf(e.referents.log),
		Value: strconv.Itoa(e.referents.again) + " times what came before",
	}}
}

func (s *referents) any() bool { return s != nil && s.total > 0 }

func (s *referents) shared() bool { return s != nil && s.again > 0 }

// Special lengths of slices; no slice is that long.
const (
	lengthAgain = math.MaxUint64     // the number of a referent follows, and nothing else
	lengthPart  = math.MaxUint64 - 1 // the number of a referent follows, and then the slice
)

// bytesOf returns the bytes of a value's marshal method, and records the memory of the
// value. The bytes do not show which memory other parts share.
func (e *encoder) bytesOf(m deepequal.Marshaler, at reflect.Value) ([]byte, error) {
	if e.apart {
		return m.Bytes(at)
	}
	if e.opaque == nil {
		e.opaque = &deepequal.Sharing{}
	}
	return m.BytesShared(at, e.opaque)
}

// unmixed returns an error if a value that marshals itself shares memory with other
// parts.
func (e *encoder) unmixed() error {
	if e.opaque == nil || !e.opaque.Any() {
		return nil
	}
	if s := e.referents; s != nil {
		for _, at := range s.slots {
			if at.round == s.round {
				e.opaque.Outside(at.at, uintptr(max(at.len, 1)))
			}
		}
	}
	if e.opaque.Lost() {
		return &UnkeyableError{Path: "the value", Reason: "memory may be shared with a value that marshals itself", Fix: "let each have its own, or give the type a Keyer"}
	}
	return nil
}
