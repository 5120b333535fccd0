package members

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// An Index says where the samples of an archive lie, as bytes: so it is kept as it is, and read
// where it lies. All numbers are little-endian.
//
//	counts      5 x 8   members, samples, suffixes, bytes of keys, bytes of a place
//	places      p x m   where each member's content lies, as its format says it
//	kinds       4 x m   which of the suffixes its name ends with
//	firsts      4 x s   the first member of each sample
//	ends        8 x s   where each sample's key ends in the keys
//	suffix ends 8 x e   where each suffix ends in the suffixes
//	keys                one after another
//	suffixes            one after another
type Index []byte

const indexHead = 5 * 8

func (x Index) word(at int) int { return int(binary.LittleEndian.Uint64(x[at:])) }
func (x Index) half(at int) int { return int(binary.LittleEndian.Uint32(x[at:])) }

// Members returns how many there are in samples.
func (x Index) Members() int { return x.word(0) }

// Samples returns how many there are.
func (x Index) Samples() int { return x.word(8) }

func (x Index) suffixes() int { return x.word(16) }
func (x Index) width() int    { return x.word(32) }

// The places of the parts.
func (x Index) kindsAt() int      { return indexHead + x.width()*x.Members() }
func (x Index) firstsAt() int     { return x.kindsAt() + 4*x.Members() }
func (x Index) endsAt() int       { return x.firstsAt() + 4*x.Samples() }
func (x Index) suffixEndsAt() int { return x.endsAt() + 8*x.Samples() }
func (x Index) keysAt() int       { return x.suffixEndsAt() + 8*x.suffixes() }

// Place returns where a member's content lies, as it was added.
func (x Index) Place(m int) []byte { return x[indexHead+x.width()*m:][:x.width()] }

// MembersOf returns the members of a sample: from one up to another.
func (x Index) MembersOf(i int) (from, to int) {
	from, to = x.half(x.firstsAt()+4*i), x.Members()
	if i+1 < x.Samples() {
		to = x.half(x.firstsAt() + 4*(i+1))
	}
	return from, to
}

// Key returns the key of a sample.
func (x Index) Key(i int) string {
	from := 0
	if i > 0 {
		from = x.word(x.endsAt() + 8*(i-1))
	}
	return string(x[x.keysAt()+from : x.keysAt()+x.word(x.endsAt()+8*i)])
}

// Suffix returns what a member's name ends with, after the dot.
func (x Index) Suffix(m int) string {
	k, from := x.half(x.kindsAt()+4*m), 0
	if k > 0 {
		from = x.word(x.suffixEndsAt() + 8*(k-1))
	}
	at := x.keysAt() + x.word(24)
	return string(x[at+from : at+x.word(x.suffixEndsAt()+8*k)])
}

// Check holds bytes to what an index has whose places take so many bytes, so that nothing in it
// lies outside.
func (x Index) Check(place int) error {
	if len(x) < indexHead {
		return errIndex
	}
	m, s, e, keys := binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(x[8:]), binary.LittleEndian.Uint64(x[16:]), binary.LittleEndian.Uint64(x[24:])
	n, each := uint64(len(x)), uint64(place+4)
	if x.width() != place || m > n/each || s > n/12 || e > n/8 || keys > n || indexHead+each*m+12*s+8*e+keys > n {
		return errIndex
	}
	rest := n - (indexHead + each*m + 12*s + 8*e + keys)
	if !x.rises(x.endsAt(), int(s), 8, keys) || !x.rises(x.suffixEndsAt(), int(e), 8, rest) || !x.rises(x.firstsAt(), int(s), 4, m) {
		return errIndex
	}
	for i := range int(m) {
		if uint64(x.half(x.kindsAt()+4*i)) >= e {
			return errIndex
		}
	}
	return nil
}

// rises reports whether numbers never fall, and are at most so large.
func (x Index) rises(at, n, size int, most uint64) bool {
	last := uint64(0)
	for i := range n {
		v := uint64(x.half(at + size*i))
		if size == 8 {
			v = binary.LittleEndian.Uint64(x[at+size*i:])
		}
		if v < last || v > most {
			return false
		}
		last = v
	}
	return true
}

var errIndex = errors.New("an index that is not understood")

// A Builder makes an index of members as they come.
type Builder struct {
	width         int
	places        []byte
	kinds, firsts []uint32
	keys          []byte
	ends          []int
	suffixes      []byte
	suffixEnds    []int
	known         map[string]uint32 // suffixes
}

// NewBuilder makes an index of no members, whose places will take so many bytes each.
func NewBuilder(place int) *Builder {
	return &Builder{width: place, known: map[string]uint32{}}
}

// mostSuffixes bounds how many ways names may end: a folder of other things has as many as
// files.
const mostSuffixes = 1 << 16

// Add takes the next member. One whose name belongs to no sample is passed over. Members of a
// sample need not follow each other.
func (b *Builder) Add(name string, place []byte) error {
	key, suffix, ok := SplitName(name)
	if !ok {
		return nil
	}
	kind, ok := b.known[suffix]
	if !ok {
		if len(b.known) >= mostSuffixes {
			return fmt.Errorf("the names of members end in more than %d ways after their first dots, the last one in .%s: this is no archive of samples", mostSuffixes, suffix)
		}
		kind = uint32(len(b.known))
		b.known[suffix] = kind
		b.suffixes = append(b.suffixes, suffix...)
		b.suffixEnds = append(b.suffixEnds, len(b.suffixes))
	}
	if n := len(b.firsts); n == 0 || key != string(b.key(n-1)) {
		b.firsts = append(b.firsts, uint32(len(b.kinds)))
		b.keys = append(b.keys, key...)
		b.ends = append(b.ends, len(b.keys))
	}
	if uint64(len(b.kinds)) >= math.MaxUint32 {
		return errors.New("it has more members than can be counted; make several archives of it")
	}
	b.places, b.kinds = append(b.places, place...), append(b.kinds, kind)
	return nil
}

// Len returns how many members were taken.
func (b *Builder) Len() int { return len(b.kinds) }

// SetPlace says where a member lies that was taken before this was known.
func (b *Builder) SetPlace(m int, place []byte) { copy(b.places[m*b.width:][:b.width], place) }

// Index returns the index, in which the members of each sample follow each other. A member that
// is there twice is an error.
func (b *Builder) Index() (Index, error) {
	b.join()
	if err := b.checkTwice(); err != nil {
		return nil, err
	}
	x := make([]byte, 0, indexHead+len(b.places)+4*len(b.kinds)+12*len(b.firsts)+8*len(b.suffixEnds)+len(b.keys)+len(b.suffixes))
	word := func(n int64) { x = binary.LittleEndian.AppendUint64(x, uint64(n)) }
	for _, n := range []int{len(b.kinds), len(b.firsts), len(b.suffixEnds), len(b.keys), b.width} {
		word(int64(n))
	}
	x = append(x, b.places...)
	for _, list := range [][]uint32{b.kinds, b.firsts} {
		for _, n := range list {
			x = binary.LittleEndian.AppendUint32(x, n)
		}
	}
	for _, list := range [][]int{b.ends, b.suffixEnds} {
		for _, n := range list {
			word(int64(n))
		}
	}
	return append(append(x, b.keys...), b.suffixes...), nil
}
