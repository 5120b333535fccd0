package disk

import (
	"os"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// contents returns the records of p at from and after it: from the index file as far as
// that covers, then by a scan. It quarantines a damaged index.
func (s *Store) contents(p *pack, from int64) (found format.Scan, info os.FileInfo, err error) {
	b, indexErr := s.files.Read(p.indexPath(), format.MaxIndex)
	// The pack may grow and get its index between the two reads, so read its size second.
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
		s.files.Quarantine(p.indexPath(), indexErr)
	}
	return found, info, err
}

// keepIndex writes an index of the records in the first covered bytes of p. Without an
// index, the next process scans the pack.
func (s *Store) keepIndex(p *pack, covered int64, entries []format.Entry) {
	if err := s.files.Write(p.indexPath(), format.EncodeIndex(p.ID, covered, entries)); err != nil {
		s.files.Report(p.indexPath(), "cannot write an index", err)
		return
	}
	p.indexed = covered
}
