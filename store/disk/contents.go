package disk

import (
	"os"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// contents returns the records of p at from and behind, from its index file as
// far as that goes and by a scan from there. A damaged index is set aside.
func (s *Store) contents(p *pack, from int64) (found format.Scan, info os.FileInfo, err error) {
	b, indexErr := s.files.Read(p.indexPath(), format.MaxIndex)
	// The pack may grow and get its index meanwhile: look at it second.
	info, err = p.file.Stat()
	if err != nil {
		return found, nil, err
	}
	if indexErr == nil {
		found, indexErr, err = p.ScanIndexed(b, from, info.Size())
	} else {
		found, err = p.Scan(from, info.Size())
	}
	if indexErr != nil && !os.IsNotExist(indexErr) {
		s.files.SetAside(p.indexPath(), indexErr)
	}
	return found, info, err
}

// keepIndex writes down the records in the first covered bytes of p. Without
// an index, the next process scans the pack.
func (s *Store) keepIndex(p *pack, covered int64, entries []format.Entry) {
	if err := s.files.Write(p.indexPath(), format.EncodeIndex(p.ID, covered, entries)); err != nil {
		s.files.Report(p.indexPath(), "cannot write an index", err)
		return
	}
	p.indexed = covered
}
