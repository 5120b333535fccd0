package webdataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// An index says where the samples of an archive lie, as bytes: so it is kept as it is, and read
// where it lies. All numbers are little-endian.
//
//	counts      4 x 8   members, samples, suffixes, bytes of keys
//	offsets     8 x m   where each member's content begins
//	sizes       8 x m   how many bytes it has
//	kinds       4 x m   which of the suffixes its name ends with
//	firsts      4 x s   the first member of each sample
//	ends        8 x s   where each sample's key ends in the keys
//	suffix ends 8 x e   where each suffix ends in the suffixes
//	keys                one after another
//	suffixes            one after another
type index []byte

const indexHead = 4 * 8

func (x index) word(at int) int { return int(binary.LittleEndian.Uint64(x[at:])) }
func (x index) half(at int) int { return int(binary.LittleEndian.Uint32(x[at:])) }

func (x index) members() int  { return x.word(0) }
func (x index) samples() int  { return x.word(8) }
func (x index) suffixes() int { return x.word(16) }

// The places of the parts.
func (x index) kindsAt() int      { return indexHead + 16*x.members() }
func (x index) firstsAt() int     { return x.kindsAt() + 4*x.members() }
func (x index) endsAt() int       { return x.firstsAt() + 4*x.samples() }
func (x index) suffixEndsAt() int { return x.endsAt() + 8*x.samples() }
func (x index) keysAt() int       { return x.suffixEndsAt() + 8*x.suffixes() }

// member returns where a member's content lies.
func (x index) member(m int) (at, size int64) {
	place := func(i int) int64 { return int64(binary.LittleEndian.Uint64(x[indexHead+8*i:])) } // of large archives, also on small machines
	return place(m), place(x.members() + m)
}

// membersOf returns the members of a sample: from one up to another.
func (x index) membersOf(i int) (from, to int) {
	from, to = x.half(x.firstsAt()+4*i), x.members()
	if i+1 < x.samples() {
		to = x.half(x.firstsAt() + 4*(i+1))
	}
	return from, to
}

// key returns the key of a sample.
func (x index) key(i int) string {
	from := 0
	if i > 0 {
		from = x.word(x.endsAt() + 8*(i-1))
	}
	return string(x[x.keysAt()+from : x.keysAt()+x.word(x.endsAt()+8*i)])
}

// suffix returns what a member's name ends with, after the dot.
func (x index) suffix(m int) string {
	k, from := x.half(x.kindsAt()+4*m), 0
	if k > 0 {
		from = x.word(x.suffixEndsAt() + 8*(k-1))
	}
	at := x.keysAt() + x.word(24)
	return string(x[at+from : at+x.word(x.suffixEndsAt()+8*k)])
}

// check holds bytes to what an index has, so that no place in it lies outside.
func (x index) check() error {
	if len(x) < indexHead {
		return errIndex
	}
	m, s, e, keys := binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(x[8:]), binary.LittleEndian.Uint64(x[16:]), binary.LittleEndian.Uint64(x[24:])
	n := uint64(len(x))
	if m > n/20 || s > n/12 || e > n/8 || keys > n || indexHead+20*m+12*s+8*e+keys > n {
		return errIndex
	}
	rest := n - (indexHead + 20*m + 12*s + 8*e + keys)
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
func (x index) rises(at, n, size int, most uint64) bool {
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

var errIndex = errors.New("webdataset: an index that is not understood")

// A builder makes an index of members as they come.
type builder struct {
	offsets, sizes []int64
	kinds, firsts  []uint32
	keys           []byte
	ends           []int
	suffixes       []byte
	suffixEnds     []int
	known          map[string]uint32 // suffixes
	last           string            // key
	seen           map[string]bool   // suffixes of the sample
}

func newBuilder() *builder {
	return &builder{known: map[string]uint32{}, seen: map[string]bool{}}
}

// mostSuffixes bounds how many ways names may end: a folder of other things has as many as
// files.
const mostSuffixes = 1 << 16

// add takes the next member.
func (b *builder) add(name string, at, size int64) error {
	key, suffix, ok := splitName(name)
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
	if len(b.firsts) == 0 || key != b.last {
		b.firsts = append(b.firsts, uint32(len(b.offsets)))
		b.keys = append(b.keys, key...)
		b.ends = append(b.ends, len(b.keys))
		b.last = key
		clear(b.seen)
	}
	if b.seen[suffix] {
		return fmt.Errorf("%s is there twice in one sample", name)
	}
	b.seen[suffix] = true
	if uint64(len(b.offsets)) >= math.MaxUint32 {
		return errors.New("it has more members than can be counted; make several archives of it")
	}
	b.offsets, b.sizes, b.kinds = append(b.offsets, at), append(b.sizes, size), append(b.kinds, kind)
	return nil
}

func (b *builder) index() index {
	x := make([]byte, 0, indexHead+20*len(b.offsets)+12*len(b.firsts)+8*len(b.suffixEnds)+len(b.keys)+len(b.suffixes))
	word := func(n int64) { x = binary.LittleEndian.AppendUint64(x, uint64(n)) }
	for _, n := range []int{len(b.offsets), len(b.firsts), len(b.suffixEnds), len(b.keys)} {
		word(int64(n))
	}
	for _, list := range [][]int64{b.offsets, b.sizes} {
		for _, n := range list {
			word(n)
		}
	}
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
	return append(append(x, b.keys...), b.suffixes...)
}
