package bucket

import (
	"bytes"
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// FuzzIndex checks that any bytes with a checksum that decode as an index are the encoding of its entries, which lie in
// the pack.
func FuzzIndex(f *testing.F) {
	_, e := appendRecord(nil, &store.Record{Key: storetest.Key(1), Payload: []byte("payload")}, 7)
	b := encodeIndex(nil, e.n, []entry{e, {key: storetest.Key(2), put: 8}})
	f.Add(b[:len(b)-len(seal(nil, nil))])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(bytes.Clone(b), seal(nil, b)...)
		size, entries, err := decodeIndex(nil, b)
		if err != nil {
			return
		}
		if !bytes.Equal(encodeIndex(nil, size, entries), b) {
			t.Error("the encoding differs")
		}
		for _, e := range entries {
			if e.at < 0 || e.n < 0 || e.at+e.n > size {
				t.Errorf("%+v is outside of a pack of %d bytes", e, size)
			}
		}
	})
}

// FuzzRecord checks that any bytes with a checksum that decode as a record are its encoding.
func FuzzRecord(f *testing.F) {
	r := store.Record{Key: storetest.Key(1), Payload: []byte("payload"), Provenance: []byte("from"), Created: time.Unix(1, 2)}
	b, _ := appendRecord(nil, &r, 7)
	f.Add(b)
	f.Add(b[:recordSize])
	f.Fuzz(func(t *testing.T, b []byte) {
		e := entry{key: storetest.Key(1), n: int64(len(b)), sum: sumOf(b)}
		r, err := e.record(b)
		if err != nil {
			return
		}
		if again, _ := appendRecord(nil, &r, 7); !bytes.Equal(again, b) {
			t.Errorf("%x, want %x", again, b)
		}
	})
}
