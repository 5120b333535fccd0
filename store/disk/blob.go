package disk

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// blobPath returns the path of the blob with a digest: its SHA-256, in 256 directories.
func (s *Store) blobPath(d key.Digest) string {
	name := hex.EncodeToString(d[1:])
	return s.files.Dir + sep + vfs.Blobs + sep + name[:2] + sep + name
}

const sep = string(filepath.Separator)

// readBlob returns the verified payload of the record with header h. It quarantines a
// damaged blob.
func (s *Store) readBlob(h *format.Header) (payload []byte, mapped bool, err error) {
	path := s.blobPath(h.Ref)
	payload, mapped, err = s.mapped.Open(path, int64(h.Size))
	if err == nil && xxh3.Hash(payload) != h.Sum {
		err = fmt.Errorf("%w: bad checksum", format.ErrDamaged)
	}
	if err == nil {
		return payload, mapped, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.files.Quarantine(path, err)
	}
	return nil, false, fmt.Errorf("blob %x: %w", h.Ref[1:], err)
}

// writeBlob stores the blob of a payload, and fills in its digest and checksum. It returns
// the number of bytes written: equal payloads share one file, if that file is still intact.
//
// The payload is hashed while it is written to an unnamed file, because both take about as
// long. A very large payload is hashed first: writing it only to find that the blob exists
// would take much space.
func (s *Store) writeBlob(h *format.Header, payload []byte) (written int64, err error) {
	h.Sum = xxh3.Hash(payload)
	head := *h // h stays on its stack, which speeds up small records
	var there atomic.Bool
	named := make(chan struct{})
	go func() {
		defer close(named)
		head.Ref = key.DigestOf(payload)
		there.Store(s.hasBlob(&head))
	}()
	if len(payload) > hashFirst {
		<-named
	}
	temp := ""
	if !there.Load() {
		temp, err = s.files.WriteTemp(0o444, func(w io.Writer) error { return writeUnless(w, payload, there.Load) })
	}
	<-named
	h.Ref = head.Ref
	switch {
	case there.Load():
		if temp != "" {
			s.files.Drop(temp)
		}
		return 0, nil
	case err != nil:
		return 0, err
	}
	if err := s.files.MoveIn(temp, s.blobPath(h.Ref)); err != nil {
		return 0, err
	}
	return int64(len(payload)), nil
}

// writePiece is how much of a payload is written between checks whether the write is still
// needed.
const writePiece = 256 << 10

var errUnneeded = errors.New("the file already exists")

// writeUnless writes data in pieces, and fails with errUnneeded once unneeded returns true.
func writeUnless(w io.Writer, data []byte, unneeded func() bool) error {
	for len(data) > 0 {
		n := min(len(data), writePiece)
		if _, err := w.Write(data[:n]); err != nil {
			return err
		}
		if unneeded() {
			return errUnneeded
		}
		data = data[n:]
	}
	return nil
}

// hashFirst is the payload size from which on hashing precedes writing.
const hashFirst = 64 << 20

// hasBlob reports whether the blob of a record exists and is intact. It quarantines a
// damaged one.
func (s *Store) hasBlob(h *format.Header) bool {
	path := s.blobPath(h.Ref)
	err := s.checkFile(path, int64(h.Size), h.Sum)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.files.Quarantine(path, err)
	}
	return err == nil
}

// checkFile compares a file with its expected size and checksum.
func (s *Store) checkFile(path string, size int64, sum uint64) error {
	f, info, err := s.files.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	if info.Size() != size {
		return fmt.Errorf("%w: %d bytes, not %d", format.ErrDamaged, info.Size(), size)
	}
	hash := xxh3.New()
	if _, err := io.Copy(hash, f); err != nil {
		return err
	}
	if hash.Sum64() != sum {
		return fmt.Errorf("%w: bad checksum", format.ErrDamaged)
	}
	return nil
}

func (s *Store) writeMissingBlob(h *format.Header, payload []byte) (written int64, err error) {
	if _, err := s.files.Lstat(s.blobPath(h.Ref)); err == nil {
		return 0, nil
	}
	return s.writeBlob(h, payload)
}
