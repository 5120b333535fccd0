package members

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// An Index has the positions of the samples of an archive. It is cached as bytes,
// and read in this form. All numbers are little-endian.
//
//	counts      5 x 8   members, samples, suffixes, bytes of keys, bytes of a place
//	places      p x m   position of each member's content, as its format encodes it
//	kinds       4 x m   index of the suffix of its name
//	firsts      4 x s   the first member of each sample
//	ends        8 x s   end of each sample's key in the keys
//	suffix ends 8 x e   end of each suffix in the suffixes
//	keys                one after another
//	suffixes            one after another
type Index []byte

const indexHead = 5 * 8

func (x Index) word(at int) int { return int(binary.LittleEndian.Uint64(x[at:])) }
func (x Index) half(at int) int { return int(binary.LittleEndian.Uint32(x[at:])) }

// Members returns the number of members of samples.
func (x Index) Members() int { return x.word(0) }

// Samples returns the number of samples.
func (x Index) Samples() int { return x.word(8) }

func (x Index) suffixes() int { return x.word(16) }
func (x Index) width() int    { return x.word(32) }

// Offsets of the parts.

func (x Index) kindsAt() int      { return indexHead + x.width()*x.Members() }
func (x Index) firstsAt() int     { return x.kindsAt() + 4*x.Members() }
func (x Index) endsAt() int       { return x.firstsAt() + 4*x.Samples() }
func (x Index) suffixEndsAt() int { return x.endsAt() + 8*x.Samples() }
func (x Index) keysAt() int       { return x.suffixEndsAt() + 8*x.suffixes() }

// Place returns the position of a member's content, as passed to Add.
func (x Index) Place(m int) []byte { return x[indexHead+x.width()*m:][:x.width()] }

// MembersOf returns the range of members of a sample, without to.
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

// Suffix returns the end of a member's name, after the dot.
func (x Index) Suffix(m int) string {
	k, from := x.half(x.kindsAt()+4*m), 0
	if k > 0 {
		from = x.word(x.suffixEndsAt() + 8*(k-1))
	}
	at := x.keysAt() + x.word(24)
	return string(x[at+from : at+x.word(x.suffixEndsAt()+8*k)])
}

// Check returns an error unless the bytes are a valid index with positions of the given
// size.
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

// rises reports whether numbers never decrease, and are at most most.
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

var errIndex = errors.New("unknown format of a cached index")

// A Builder builds an index of members in the order of the archive.
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

// NewBuilder returns a builder without members, for positions of the given size.
func NewBuilder(place int) *Builder {
	return &Builder{width: place, known: map[string]uint32{}}
}

// maxSuffixes bounds the number of suffixes: a directory of other data has as many as
// files.
const maxSuffixes = 1 << 16

// Add adds the next member. It ignores a name that belongs to no sample. Members of a
// sample need not be adjacent.
func (b *Builder) Add(name string, place []byte) error {
	key, suffix, ok := SplitName(name)
	if !ok {
		return nil
	}
	kind, ok := b.known[suffix]
	if !ok {
		if len(b.known) >= maxSuffixes {
			return fmt.Errorf("more than %d different member suffixes, such as .%s; give an archive of samples", maxSuffixes, suffix)
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
		return errors.New("too many members; split the archive")
	}
	b.places, b.kinds = append(b.places, place...), append(b.kinds, kind)
	return nil
}

// Len returns the number of members added.
func (b *Builder) Len() int { return len(b.kinds) }

// SetPlace sets the position of a member that was added before it was known.
func (b *Builder) SetPlace(m int, place []byte) { copy(b.places[m*b.width:][:b.width], place) }

// Index returns the index, in which the members of each sample are adjacent. A duplicate
// member is an error.
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
