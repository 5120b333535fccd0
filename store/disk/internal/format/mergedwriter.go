package format

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
)

// WriteMerged writes a merged index of packs. It calls each twice. each yields at most most
// entries, ordered by fingerprint and with positions in packs.
func WriteMerged(file io.Writer, latest int64, packs []MergedPack, most int, each func(yield func(Located) error) error) error {
	m := &Merged{Latest: latest, Packs: packs, bits: directoryBits(most)}
	entries, err := m.direct(each)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	if _, err := w.Write(m.encodeHead(entries)); err != nil {
		return err
	}
	err = each(func(l Located) error {
		_, err := w.Write(appendMergedEntry(w.AvailableBuffer(), l.FP, l.Place))
		return err
	})
	return cmp.Or(err, w.Flush())
}

// direct makes the directory, and counts the entries, in total and per pack.
func (m *Merged) direct(each func(yield func(Located) error) error) (entries uint64, err error) {
	first := make([]uint32, 1<<m.bits+1)
	err = each(func(l Located) error {
		entries++
		first[m.bucket(l.FP)+1]++
		m.Packs[l.Pack].Entries++
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i := range first[1:] {
		first[i+1] += first[i]
	}
	for ; m.bits > directoryBits(int(entries)); m.bits-- { // many were replaced
		for i := range len(first)/2 + 1 {
			first[i] = first[2*i]
		}
		first = first[:len(first)/2+1]
	}
	m.directory, err = binary.Append(nil, binary.LittleEndian, first)
	return entries, err
}
