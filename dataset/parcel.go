package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/key"
	"github.com/zeebo/xxh3"
)

// A parcel is what is kept of one execution of a maker: the items it made,
// encoded, and for items that it passed on, where they came from. It stores no
// byte that the maker did not make. In memory it is its encoding, as there may
// be millions.
type parcel struct{ encoding []byte }

// entry is an item in a parcel.
type entry struct {
	key    string
	from   string // not empty: passed on from this key of the input
	ext    string
	shared bool
	digest key.Digest
	bytes  []byte
}

// newParcel encodes what a maker returned for in.
func newParcel(ctx context.Context, in, out Sample) (*parcel, error) {
	entries := make([]entry, 0, out.Len())
	for f := range out.Fields() {
		e := entry{key: f.Key, shared: f.Shared}
		if i := slices.IndexFunc(in.fields, func(g Field) bool { return g.Item == f.Item }); i >= 0 {
			e.from = in.fields[i].Key
		} else if err := e.encode(ctx, f.Item); err != nil {
			return nil, fmt.Errorf("item %s: %w", f.Key, err)
		}
		entries = append(entries, e)
	}
	return &parcel{encodeEntries(entries)}, nil
}

func (e *entry) encode(ctx context.Context, it *Item) (err error) {
	if e.ext, err = it.Ext(ctx); err != nil {
		return err
	}
	if e.bytes, err = it.Bytes(ctx); err != nil {
		return err
	}
	if uint64(len(e.bytes)) > maxItemBytes {
		return fmt.Errorf("%d bytes; at most %d can be kept", len(e.bytes), int64(maxItemBytes))
	}
	e.digest, err = it.Digest(ctx)
	return err
}

// open returns the sample that the maker returned for in.
func (p *parcel) open(in Sample) (Sample, error) {
	entries, err := decodeEntries(p.encoding)
	if err != nil {
		return Sample{}, err
	}
	out := Sample{make([]Field, 0, len(entries))}
	for _, e := range entries {
		f := Field{Key: e.key, Shared: e.shared}
		if e.from != "" {
			it, err := in.Item(e.from)
			if err != nil {
				return Sample{}, err
			}
			f.Item = it
		} else {
			f.Item = ItemFrom(encodedAs(e.ext, e.bytes, e.digest))
		}
		out.fields = append(out.fields, f)
	}
	return out, nil
}

// parcelFormat names the encoding below; another encoding is another format.
const parcelFormat = "larder parcel 1"

// parcelValue keeps parcels. The encoding, all integers little-endian 32 bit:
//
//	number of entries
//	per entry: flags (1 shared, 2 passed on), then length-framed key and,
//	    for an item passed on: length-framed key of the input
//	    for an item made: length-framed extension, digest, length of bytes
//	the bytes of all items made, each at a multiple of 64 from the start
//
// Items of a decoded parcel refer to the record, which may be mapped memory.
var parcelValue = &codec.Value[*parcel]{
	ID:   parcelFormat,
	Type: xxh3.HashString(parcelFormat),
	Encode: func(dst []byte, p *parcel) ([]byte, error) {
		if len(dst) == 0 {
			return slices.Clip(p.encoding), nil // which may be large and is not changed
		}
		return append(dst, p.encoding...), nil
	},
	Decode: func(b []byte) (*parcel, error) {
		_, err := decodeEntries(b)
		return &parcel{b}, err
	},
	Aliases: true,
}

const (
	flagShared = 1
	flagPassed = 2
	bytesAlign = 64
)

func encodeEntries(entries []entry) []byte {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(entries)))
	for _, e := range entries {
		head = e.appendHead(head)
	}
	size := len(head)
	for _, e := range entries {
		if e.from == "" {
			size += padding(size) + len(e.bytes)
		}
	}
	b := append(make([]byte, 0, size), head...)
	var zeros [bytesAlign]byte
	for _, e := range entries {
		if e.from == "" {
			b = append(b, zeros[:padding(len(b))]...)
			b = append(b, e.bytes...)
		}
	}
	return b
}

// padding is how many bytes after pos the next item begins.
func padding(pos int) int { return -pos & (bytesAlign - 1) }

const maxItemBytes = 1<<32 - 1

func (e *entry) appendHead(dst []byte) []byte {
	var flags uint32
	if e.shared {
		flags |= flagShared
	}
	if e.from != "" {
		flags |= flagPassed
	}
	dst = binary.LittleEndian.AppendUint32(dst, flags)
	dst = appendString(dst, e.key)
	if e.from != "" {
		return appendString(dst, e.from)
	}
	dst = appendString(dst, e.ext)
	dst = append(dst, e.digest[:]...)
	return binary.LittleEndian.AppendUint32(dst, uint32(len(e.bytes)))
}

func appendString(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

var errParcel = errors.New("dataset: not a parcel")

// decodeEntries reads a parcel; the items refer to b.
func decodeEntries(b []byte) ([]entry, error) {
	r := parcelReader{b: b}
	n := r.uint32()
	if int64(n) > int64(len(b))/8 { // an entry takes more than 8 bytes
		return nil, errParcel
	}
	entries := make([]entry, n)
	lengths := make([]int, n)
	for i := range entries {
		lengths[i] = entries[i].readHead(&r)
	}
	for i := range entries {
		if entries[i].from == "" {
			r.take(padding(r.pos))
			entries[i].bytes = r.take(lengths[i])
		}
	}
	if r.bad || r.pos != len(b) {
		return nil, errParcel
	}
	return entries, nil
}

func (e *entry) readHead(r *parcelReader) (length int) {
	flags := r.uint32()
	e.shared = flags&flagShared != 0
	e.key = r.string()
	if flags&flagPassed != 0 {
		if e.from = r.string(); e.from == "" {
			r.bad = true
		}
		return 0
	}
	e.ext = r.string()
	copy(e.digest[:], r.take(key.Size))
	return int(r.uint32())
}

// parcelReader reads from a parcel; once something is missing it reads nothing
// more and is bad.
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
