package redis

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A record is one string in the server. All numbers are little-endian:
//
//	 0  8 magic
//	 8  8 XXH3 of bytes 16 to 95, seeded with the XXH3 of the key
//	16  8 XXH3 of payload and provenance
//	24  8 type
//	32  8 cost, ns
//	40  8 created, ns since 1970
//	48  8 bytes of payload
//	56  4 bytes of provenance
//	60  1 kind: 0 a value, 1 a link
//	61 33 the key linked to, or zeros
//	94  2 zeros
//	96  4 last use, minutes since 1970: changes in place; no checksum covers it
//	100 4 zeros
//	104   payload, provenance
//
// The seed makes a record valid only under its own key.
const (
	magic      = "LARDRED\x01"
	checkedTo  = 96
	usedAt     = 96
	headerSize = 104
)

var (
	errForeign = errors.New("not a record")
	errDamaged = errors.New("wrong checksum")
)

func sizeOf(r *store.Record) int64 {
	return headerSize + int64(len(r.Payload)) + int64(len(r.Provenance))
}

// encode returns the string of a record that was last used at the time used.
func encode(r *store.Record, used time.Time) []byte {
	le := binary.LittleEndian
	b := make([]byte, headerSize, sizeOf(r))
	copy(b, magic)
	le.PutUint64(b[24:], r.Type)
	le.PutUint64(b[32:], uint64(r.Cost))
	le.PutUint64(b[40:], uint64(r.Created.UnixNano()))
	le.PutUint64(b[48:], uint64(len(r.Payload)))
	le.PutUint32(b[56:], uint32(len(r.Provenance)))
	if !r.Link.IsZero() {
		b[60] = 1
		copy(b[61:], r.Link[:])
	}
	copy(b[usedAt:], minutes(used))
	b = append(append(b, r.Payload...), r.Provenance...)
	le.PutUint64(b[16:], xxh3.Hash(b[headerSize:]))
	le.PutUint64(b[8:], headerSum(r.Key, b))
	return b
}

func headerSum(k key.Key, b []byte) uint64 { return xxh3.HashSeed(b[16:checkedTo], xxh3.Hash(k[:])) }

// minutes encodes the last use.
func minutes(t time.Time) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(t.Unix()/60))
}

// A header is the start of a stored record.
type header struct {
	store.Info
	body       uint64 // checksum
	provenance int64  // bytes
}

func (h *header) total() int64 { return headerSize + h.Size + h.provenance }

// decodeHeader reads the start of the string stored under k.
func decodeHeader(k key.Key, b []byte) (h header, err error) {
	le := binary.LittleEndian
	if len(b) < headerSize || string(b[:8]) != magic {
		return h, errForeign
	}
	if le.Uint64(b[8:]) != headerSum(k, b) {
		return h, errDamaged
	}
	h.body, h.provenance = le.Uint64(b[16:]), int64(le.Uint32(b[56:]))
	h.Key, h.Type, h.Cost = k, le.Uint64(b[24:]), time.Duration(le.Uint64(b[32:]))
	h.Created, h.Size = time.Unix(0, int64(le.Uint64(b[40:]))), int64(le.Uint64(b[48:]))
	if h.Size < 0 || h.Size > math.MaxInt64-headerSize-h.provenance || b[60] > 1 || b[60] == 1 && h.Size > 0 {
		return h, errDamaged
	}
	if b[60] == 1 {
		h.Link = key.Key(b[61:94])
	}
	h.Used = time.Unix(60*int64(le.Uint32(b[usedAt:])), 0)
	if h.Used.Before(h.Created) || h.Used.After(time.Now().Add(time.Hour)) {
		h.Used = h.Created // no checksum covers the stored value
	}
	return h, nil
}

// decode reads the whole string stored under k. The record aliases b.
func decode(h header, b []byte) (store.Record, error) {
	if int64(len(b)) != h.total() || xxh3.Hash(b[headerSize:]) != h.body {
		return store.Record{}, errDamaged
	}
	payload := headerSize + h.Size
	return store.Record{
		Key: h.Key, Link: h.Link, Type: h.Type, Cost: h.Cost, Created: h.Created,
		Payload: b[headerSize:payload:payload], Provenance: b[payload:len(b):len(b)],
	}, nil
}
