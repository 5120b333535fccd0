package disk

import "os"

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
	found, err = p.scan(max(covered, from), info.Size())
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
