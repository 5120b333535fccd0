package format

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A manifest is a separate file:
//
//	 0 8 magic
//	 8 8 XXH3 of the rest
//	16 8 time, ns since 1970
//	24 8 1 if pinned
//	32 8 bytes of name, 40 8 bytes of note, 48 8 number of keys
//	56   name, note, keys of 33 bytes
const (
	manifestMagic      = "LARDMAN\x01"
	manifestHeaderSize = 56
	MaxManifest        = 1 << 30 // bytes of a manifest
)

// EncodeManifest returns the content of the file of a manifest.
func EncodeManifest(m *store.Manifest) []byte {
	le := binary.LittleEndian
	b := make([]byte, manifestHeaderSize, manifestHeaderSize+len(m.Name)+len(m.Note)+key.Size*len(m.Keys))
	copy(b, manifestMagic)
	le.PutUint64(b[16:], uint64(m.Time.UnixNano()))
	if m.Pinned {
		b[24] = 1
	}
	le.PutUint64(b[32:], uint64(len(m.Name)))
	le.PutUint64(b[40:], uint64(len(m.Note)))
	le.PutUint64(b[48:], uint64(len(m.Keys)))
	b = append(b, m.Name...)
	b = append(b, m.Note...)
	for i := range m.Keys {
		b = append(b, m.Keys[i][:]...)
	}
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

// DecodeManifest is the reverse of EncodeManifest.
func DecodeManifest(b []byte) (m store.Manifest, err error) {
	le := binary.LittleEndian
	if len(b) < manifestHeaderSize || string(b[:8]) != manifestMagic || le.Uint64(b[8:]) != xxh3.Hash(b[16:]) {
		return m, fmt.Errorf("%w: bad checksum", ErrDamaged)
	}
	name, note, keys := le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:])
	body := b[manifestHeaderSize:]
	n := uint64(len(body))
	if name > n || note > n || keys > n/key.Size || name+note+keys*key.Size != n {
		return m, fmt.Errorf("%w: lengths do not add up", ErrDamaged)
	}
	m.Time = time.Unix(0, int64(le.Uint64(b[16:])))
	m.Pinned = b[24] == 1
	m.Name = string(body[:name])
	m.Note = body[name : name+note : name+note]
	m.Keys = make([]key.Key, keys)
	for i, from := 0, body[name+note:]; len(from) > 0; i, from = i+1, from[key.Size:] {
		m.Keys[i] = key.Key(from[:key.Size])
	}
	return m, nil
}
