package key

import (
	"encoding/binary"
	"math"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/larder-data/larder/internal/marshal"
	"github.com/larder-data/larder/internal/values/deepequal"
)

// A place is memory that pointers, slices or maps of a value refer to, seen as
// values of one type. It is an address and no pointer: what is encoded keeps
// the memory, and there may be many.
type place struct {
	at   uintptr
	len  int // of a slice, or what else refers to it
	elem uintptr
}

// What stands in a place for the length if no slice refers to it.
const (
	byPointer = -1
	byMap     = -2
)

// typeID tells types apart.
func typeID(t reflect.Type) uintptr { return uintptr((*face)(unsafe.Pointer(&t)).data) }

// A meeting says how a place was met before.
type meeting byte

const (
	never  meeting = iota
	partly         // as the pixels of an image, of which those outside of its bounds were not encoded
	wholly
)

// places numbers the places of a value in the order in which they are first
// met, so that one that is met again is a reference to the first. It is a hash
// table of its own: values may be all pointers, and a map takes several times as
// long.
type places struct {
	slots []spot // a power of two, at most half of them used
	used  int
	round uint32 // in which slots are used
	total int    // meetings
	again int    // of them with a place that was met before

	logs bool // log says which these are, and with what
	log  []byte
}

// A spot is what is known of a place. It is empty in any round but its own, so
// that nobody has to empty a large table after a few places.
type spot struct {
	place
	round  uint32
	number uint32 // twice that of the place, and one more if it was met wholly
}

// How many slots there are at first, and how many are kept for reuse at most.
const (
	firstSlots = 16
	keepSlots  = keepAtMax / int(unsafe.Sizeof(spot{}))
)

// reset forgets all places. What is left in slots is of another round.
func (s *places) reset() {
	if s == nil {
		return
	}
	next := places{slots: s.slots, round: s.round + 1}
	if len(next.slots) > keepSlots || next.round == 0 {
		next = places{round: 1}
	}
	*s = next
}

// find returns the spot of a place, or that where it belongs.
func (s *places) find(p place) *spot {
	const golden = 0x9e3779b97f4a7c15 // spreads what differs in few bits over all
	mask := uint64(len(s.slots) - 1)
	h := (uint64(p.at)+uint64(p.len))*golden ^ uint64(p.elem)
	h = h * golden >> 32
	for i := h & mask; ; i = (i + 1) & mask {
		if at := &s.slots[i]; at.round != s.round || at.place == p {
			return at
		}
	}
}

// grow makes room for one more place.
func (s *places) grow() {
	if 2*s.used < len(s.slots) {
		return
	}
	old := s.slots
	s.slots = make([]spot, max(firstSlots, 4*len(old)))
	for _, was := range old {
		if was.round == s.round {
			*s.find(was.place) = was
		}
	}
}

// meet notes that a place is met, to be encoded as said by now, and returns its
// number and how it was met before.
func (e *encoder) meet(p place, now meeting) (number int, before meeting) {
	if e.apart {
		return 0, never
	}
	if e.places == nil {
		e.places = &places{round: 1}
	}
	s := e.places
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

// met notes that a place was met again.
func (s *places) met(number uint32) {
	s.again++
	if s.logs {
		s.log = binary.AppendUvarint(s.log, uint64(s.total))
		s.log = binary.AppendUvarint(s.log, uint64(number))
	}
}

// sharingPart describes which pointers, slices and maps of values are the same,
// if any are: their own parts do not tell.
func sharingPart(kind string, encode func(*encoder) error) []Part {
	e := newEncoder(layerValue)
	defer e.free()
	e.places = &places{round: 1, logs: true}
	if err := encode(e); err != nil || !e.places.shared() {
		return nil
	}
	return []Part{{
		Kind: kind, Name: "what is shared", Digest: DigestOf(e.places.log),
		Value: strconv.Itoa(e.places.again) + " times what came before",
	}}
}

// any reports whether any place was met.
func (s *places) any() bool { return s != nil && s.total > 0 }

// shared reports whether any place was met again.
func (s *places) shared() bool { return s != nil && s.again > 0 }

// Lengths of slices that say something else: no slice is that long.
const (
	lengthAgain = math.MaxUint64     // the number of a place follows, and nothing else
	lengthPart  = math.MaxUint64 - 1 // the number of a place follows, and then the slice
)

// bytesOf returns the bytes that a value makes of itself, and notes what memory it
// has: the bytes do not tell which of it is that of other parts, too.
func (e *encoder) bytesOf(m marshal.Method, at reflect.Value) ([]byte, error) {
	if e.apart {
		return m.Bytes(at)
	}
	if e.opaque == nil {
		e.opaque = &deepequal.Sharing{}
	}
	return m.BytesShared(at, e.opaque)
}

// unmixed returns an error if memory of values that made bytes of themselves is that
// of other parts, too.
func (e *encoder) unmixed() error {
	if e.opaque == nil || !e.opaque.Any() {
		return nil
	}
	if s := e.places; s != nil {
		for _, at := range s.slots {
			if at.round == s.round {
				e.opaque.Outside(at.at, uintptr(max(at.len, 1)))
			}
		}
	}
	if e.opaque.Lost() {
		return &UnkeyableError{Path: "the value", Reason: "memory that parts share, of which one makes bytes of itself, cannot be told from memory of their own", Cure: "let each have its own, or give the type a Keyer"}
	}
	return nil
}
