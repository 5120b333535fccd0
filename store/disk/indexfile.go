package disk

import (
	"encoding/binary"
	"fmt"
	"os"
	"sort"

	"github.com/zeebo/xxh3"
)

// An index file spares a scan of its pack. It begins with a header:
//
//	 0 8 magic
//	 8 8 XXH3 of the rest
//	16 8 id of the pack
//	24 8 bytes of the pack that are covered
//	32 8 number of entries
//
// and goes on with entries of 40 bytes, in the order of the pack:
//
//	 0 8 fingerprint of the key
//	 8 8 stamp
//	16 8 bytes of the blob, 0 for none
//	24 4 offset, in units of 8 bytes
//	28 4 bytes of header and inline payload; bit 31: blob, bit 30: tombstone
//	32 4 bytes of the record, in units of 8 bytes
//	36 4 how often Collect moved it
const (
	indexSuffix     = ".idx"
	indexMagic      = "LARDIDX\x01"
	indexHeaderSize = 40
	entrySize       = 40
	maxIndexFile    = 1 << 30
)

func encodeIndex(pack uint64, covered int64, entries []entry) []byte {
	le := binary.LittleEndian
	b := make([]byte, indexHeaderSize+entrySize*len(entries))
	copy(b, indexMagic)
	le.PutUint64(b[16:], pack)
	le.PutUint64(b[24:], uint64(covered))
	le.PutUint64(b[32:], uint64(len(entries)))
	for i, to := 0, b[indexHeaderSize:]; i < len(entries); i, to = i+1, to[entrySize:] {
		e := &entries[i]
		le.PutUint64(to, e.fp)
		le.PutUint64(to[8:], uint64(e.stamp))
		le.PutUint64(to[16:], e.blob)
		le.PutUint32(to[24:], e.off)
		le.PutUint32(to[28:], e.read)
		le.PutUint32(to[32:], e.length)
		le.PutUint32(to[36:], e.moves)
	}
	le.PutUint64(b[8:], xxh3.Hash(b[16:]))
	return b
}

// decodeIndex reads the index of a pack that is size bytes long, but for the
// entries of records before from.
func decodeIndex(b []byte, pack uint64, size, from int64) (entries []entry, covered int64, err error) {
	le := binary.LittleEndian
	if len(b) < indexHeaderSize || string(b[:len(indexMagic)]) != indexMagic || le.Uint64(b[8:]) != xxh3.Hash(b[16:]) {
		return nil, 0, fmt.Errorf("%w: bad checksum", errDamaged)
	}
	n := (len(b) - indexHeaderSize) / entrySize
	covered = int64(le.Uint64(b[24:]))
	switch {
	case le.Uint64(b[16:]) != pack:
		return nil, 0, fmt.Errorf("%w: it belongs to another pack", errDamaged)
	case le.Uint64(b[32:]) != uint64(n) || len(b) != indexHeaderSize+n*entrySize:
		return nil, 0, fmt.Errorf("%w: wrong number of entries", errDamaged)
	case covered < 0 || covered%align != 0 || covered > min(size, maxPack):
		return nil, 0, fmt.Errorf("%w: the pack is shorter than its index says", errDamaged)
	}
	b = b[indexHeaderSize:]
	first := sort.Search(n, func(i int) bool { return int64(le.Uint32(b[i*entrySize+24:]))*align >= from })
	entries = make([]entry, n-first)
	for i := range entries {
		b := b[(first+i)*entrySize:]
		e := entry{
			fp:     le.Uint64(b),
			stamp:  int64(le.Uint64(b[8:])),
			blob:   le.Uint64(b[16:]),
			place:  place{off: le.Uint32(b[24:]), read: le.Uint32(b[28:])},
			length: le.Uint32(b[32:]),
			moves:  le.Uint32(b[36:]),
		}
		if e.readSize() < headerSize || e.offset()+e.bytes() > covered || int64(e.readSize()) > e.bytes() {
			return nil, 0, fmt.Errorf("%w: entry %d lies outside the pack", errDamaged, first+i)
		}
		entries[i] = e
	}
	return entries, covered, nil
}

// contents returns the records of p at from and behind, from its index file as
// far as that goes and by a scan from there. A damaged index is set aside.
func (s *Store) contents(p *pack, from int64) (found scan, info os.FileInfo, err error) {
	b, indexErr := readSmall(p.indexPath(), maxIndexFile)
	// The pack may grow and get its index meanwhile: look at it second.
	info, err = p.file.Stat()
	if err != nil {
		return found, nil, err
	}
	var entries []entry
	covered := int64(0)
	if indexErr == nil {
		entries, covered, indexErr = decodeIndex(b, p.id, info.Size(), from)
	}
	if indexErr != nil && !os.IsNotExist(indexErr) {
		s.setAside(p.indexPath(), indexErr)
	}
	found, err = scanPack(p.file, p.id, max(covered, from), info.Size())
	found.entries = append(entries, found.entries...)
	found.indexed = covered
	return found, info, err
}

// keepIndex writes down the records in the first covered bytes of p. Without
// an index, the next process scans the pack.
func (s *Store) keepIndex(p *pack, covered int64, entries []entry) {
	if err := s.writeFile(p.indexPath(), encodeIndex(p.id, covered, entries)); err != nil {
		s.report(p.indexPath(), "cannot write an index", err)
		return
	}
	p.indexed = covered
}
