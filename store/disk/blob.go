package disk

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
)

// blobPath is where the blob with a digest is: its SHA-256, in 256 folders.
func (s *Store) blobPath(d key.Digest) string {
	name := hex.EncodeToString(d[1:])
	return s.dir + sep + blobsDir + sep + name[:2] + sep + name
}

const sep = string(filepath.Separator)

// readBlob returns the payload of the record with header h, verified. A
// damaged blob is set aside.
func (s *Store) readBlob(h *header) (payload []byte, mapped bool, err error) {
	path := s.blobPath(h.ref)
	payload, mapped, err = mapFile(path, int64(h.size))
	if err == nil && xxh3.Hash(payload) != h.sum {
		err = fmt.Errorf("%w: bad checksum", errDamaged)
	}
	if err == nil {
		return payload, mapped, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.setAside(path, err)
	}
	return nil, false, fmt.Errorf("blob %x: %w", h.ref[1:], err)
}

// writeBlob sees to the blob with the digest h.ref, and fills in its
// checksum. It returns how many bytes were written: equal payloads share one
// file, if that still is what it should be.
func (s *Store) writeBlob(h *header, payload []byte) (written int64, err error) {
	h.sum = xxh3.Hash(payload)
	path := s.blobPath(h.ref)
	if _, err := os.Lstat(path); err == nil {
		if _, _, err := s.readBlob(h); err == nil {
			return 0, nil
		}
	}
	if err := s.writeFile(path, payload, 0o444); err != nil {
		return 0, err
	}
	return int64(len(payload)), nil
}

func (s *Store) writeMissingBlob(h *header, payload []byte) (written int64, err error) {
	if _, err := os.Lstat(s.blobPath(h.ref)); err == nil {
		return 0, nil
	}
	return s.writeBlob(h, payload)
}
