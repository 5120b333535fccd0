package inventory

import (
	"encoding/binary"
	"errors"

	"github.com/larder-data/larder/key"
)

// parcelType is the type of records that hold the items made of one sample:
// the XXH3 of "larder parcel 1".
const parcelType = 0x19011f81dc903948

// A parcelItem is an item of a parcel. The encoding is written by package
// dataset; all integers are little-endian 32 bit:
//
//	number of entries
//	per entry: flags (1 shared, 2 passed on), then length-framed key and,
//	    for an item passed on: length-framed key of the input
//	    for an item made: length-framed extension, digest, length of bytes
//	the bytes of all items made, each at a multiple of 64 from the start
type parcelItem struct {
	name   string
	from   string // not empty: passed on from this item of the input
	ext    string
	shared bool
	bytes  []byte
}

const (
	parcelShared = 1
	parcelPassed = 2
	parcelAlign  = 64
	leastEntry   = 12 // bytes
)

var errParcel = errors.New("inventory: not a parcel")

func readParcel(b []byte) ([]parcelItem, error) {
	r := parcelReader{b: b}
	n := r.uint32()
	if int64(n) > int64(len(b))/leastEntry {
		return nil, errParcel
	}
	items := make([]parcelItem, n)
	lengths := make([]int, n)
	for i := range items {
		flags := r.uint32()
		items[i].shared = flags&parcelShared != 0
		items[i].name = r.string()
		if flags&parcelPassed != 0 {
			items[i].from = r.string()
			r.bad = r.bad || items[i].from == ""
			continue
		}
		items[i].ext = r.string()
		r.take(key.Size)
		lengths[i] = int(r.uint32())
	}
	for i := range items {
		if items[i].from == "" {
			r.take(-r.pos & (parcelAlign - 1))
			items[i].bytes = r.take(lengths[i])
		}
	}
	if r.bad || r.pos != len(b) {
		return nil, errParcel
	}
	return items, nil
}

// A parcelReader reads from a parcel; once something is missing it reads
// nothing more and is bad.
type parcelReader struct {
	b   []byte
	pos int
	bad bool
}

func (r *parcelReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b)-r.pos {
		r.bad = true
		return nil
	}
	b := r.b[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return b
}

func (r *parcelReader) uint32() uint32 {
	b := r.take(4)
	if r.bad {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

func (r *parcelReader) string() string { return string(r.take(int(r.uint32()))) }
