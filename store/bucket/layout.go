package bucket

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A bucket has two objects for each set of records that was written together. NAME is
// random and never used again:
//
//	PREFIX/packs/NAME  the records, one after another
//	PREFIX/index/NAME  where they are; its creation commits them
//
// All numbers are little-endian. An index is
//
//	 0  8 magic
//	 8  8 bytes of the pack
//	16  8 number of entries
//	24    entries
//	   32 HMAC-SHA256 with the key of the bucket; SHA-256 without one
//
// and an entry of 81 bytes is
//
//	 0 33 key
//	33  8 when it was put, ns since 1970; the latest entry of a key counts
//	41  8 offset in the pack
//	49  8 bytes; 0 for a key that was deleted
//	57 24 first bytes of the SHA-256 of the record
//
// A record in a pack is
//
//	 0  8 type
//	 8  8 cost, ns
//	16  8 created, ns since 1970
//	24 33 the key linked to, or zeros
//	57  4 bytes of provenance
//	61    provenance, payload
const (
	magic      = "LARDIDX\x01"
	indexStart = 24
	entrySize  = key.Size + 24 + sumSize
	sumSize    = 24
	recordSize = 28 + key.Size
)

var (
	errDamaged = errors.New("wrong checksum")
	errForeign = errors.New("not an index")
)

// An entry says where the latest record of a key is.
type entry struct {
	key   key.Key
	put   int64 // ns since 1970
	at, n int64 // in the pack; n is 0 for a key that was deleted
	sum   [sumSize]byte
}

// appendRecord appends a record to a pack, and returns its entry.
func appendRecord(pack []byte, r *store.Record, put int64) ([]byte, entry) {
	le, start := binary.LittleEndian, len(pack)
	pack = le.AppendUint64(pack, r.Type)
	pack = le.AppendUint64(pack, uint64(r.Cost))
	pack = le.AppendUint64(pack, uint64(r.Created.UnixNano()))
	pack = append(pack, r.Link[:]...)
	pack = le.AppendUint32(pack, uint32(len(r.Provenance)))
	pack = append(append(pack, r.Provenance...), r.Payload...)
	return pack, entry{r.Key, put, int64(start), int64(len(pack) - start), sumOf(pack[start:])}
}

func sumOf(b []byte) (sum [sumSize]byte) {
	all := sha256.Sum256(b)
	copy(sum[:], all[:])
	return sum
}

// record returns the record that an entry describes. It aliases b.
func (e *entry) record(b []byte) (r store.Record, err error) {
	if int64(len(b)) != e.n || sumOf(b) != e.sum || len(b) < recordSize {
		return r, errDamaged
	}
	le := binary.LittleEndian
	provenance := int64(le.Uint32(b[recordSize-4:]))
	if provenance > int64(len(b)-recordSize) {
		return r, errDamaged
	}
	r = store.Record{Key: e.key, Type: le.Uint64(b), Cost: time.Duration(le.Uint64(b[8:])), Created: time.Unix(0, int64(le.Uint64(b[16:]))), Link: key.Key(b[24 : 24+key.Size])}
	rest := b[recordSize:]
	r.Provenance, r.Payload = rest[:provenance:provenance], rest[provenance:]
	return r, r.Check()
}

// encodeIndex returns the index object of a pack.
func encodeIndex(secret []byte, packSize int64, entries []entry) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, indexStart+len(entries)*entrySize+sha256.Size)
	b = le.AppendUint64(le.AppendUint64(append(b, magic...), uint64(packSize)), uint64(len(entries)))
	for i := range entries {
		e := &entries[i]
		b = append(b, e.key[:]...)
		for _, n := range []int64{e.put, e.at, e.n} {
			b = le.AppendUint64(b, uint64(n))
		}
		b = append(b, e.sum[:]...)
	}
	return append(b, seal(secret, b)...)
}

// seal returns the checksum of an index.
func seal(secret, b []byte) []byte {
	h := sha256.New()
	if len(secret) > 0 {
		h = hmac.New(sha256.New, secret)
	}
	h.Write(b)
	return h.Sum(nil)
}

// isIndex reports whether an object that begins with a header may be an index of size bytes.
func isIndex(header []byte, size int64) bool {
	entries := binary.LittleEndian.Uint64(header[16:])
	return bytes.HasPrefix(header, []byte(magic)) && entries < math.MaxInt64/entrySize/2 && size == indexStart+int64(entries)*entrySize+sha256.Size
}

// decodeIndex returns the size of the pack and the entries of an index object.
func decodeIndex(secret, b []byte) (packSize int64, entries []entry, err error) {
	if len(b) < indexStart || !isIndex(b, int64(len(b))) {
		return 0, nil, errForeign
	}
	body := b[:len(b)-sha256.Size]
	if !hmac.Equal(seal(secret, body), b[len(body):]) {
		if len(secret) > 0 {
			return 0, nil, errors.New("not signed with this key")
		}
		return 0, nil, errDamaged
	}
	le := binary.LittleEndian
	packSize = int64(le.Uint64(b[8:]))
	rest := body[indexStart:]
	entries = make([]entry, len(rest)/entrySize)
	for i := range entries {
		b, e := rest[i*entrySize:], &entries[i]
		e.key, b = key.Key(b[:key.Size]), b[key.Size:]
		e.put, e.at, e.n = int64(le.Uint64(b)), int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:]))
		copy(e.sum[:], b[24:])
		if e.at < 0 || e.n < 0 || e.n > math.MaxInt64-e.at || e.at+e.n > packSize {
			return 0, nil, errors.New("a record outside of the pack")
		}
	}
	return packSize, entries, nil
}
