package disk

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// sweepPacks removes the indexes of packs that are gone.
func (s *Store) sweepPacks() error {
	return s.files.Each(s.files.Path(vfs.Packs), func(path string, e fs.DirEntry) error {
		if !isIndexName(e.Name()) || !e.Type().IsRegular() {
			return nil
		}
		pack := strings.TrimSuffix(path, indexSuffix) + packSuffix
		if _, err := s.files.Lstat(pack); errors.Is(err, fs.ErrNotExist) {
			return s.files.Remove(path)
		}
		return nil
	})
}

// youngBlob is the age below which a blob without a record may still get one.
const youngBlob = time.Minute

func isYoung(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) < youngBlob
}

// sweepBlobs removes the blobs without a record; those in known had one when the collection
// began. A writer may add a record for an old blob concurrently; it checks that the blob
// exists after writing the record. So sweepBlobs moves a blob to the trash first. Either
// the writer misses the blob and writes it again, or sweepBlobs sees the record here.
func (s *Store) sweepBlobs(known map[key.Digest]*blobRefs) error {
	referenced := s.referencedBlobs()
	err := s.eachBlob(func(d key.Digest, e fs.DirEntry, path string) error {
		if referenced[d] || known[d] == nil && isYoung(e) {
			return nil
		}
		return s.files.Move(path, s.files.Path(vfs.Trash, filepath.Base(path)))
	})
	if err != nil {
		return err
	}
	s.refresh()
	referenced = nil
	return s.files.Each(s.files.Path(vfs.Trash), func(path string, e fs.DirEntry) error {
		if referenced == nil {
			referenced = s.referencedBlobs()
		}
		d, ok := parseBlobName(e.Name())
		switch {
		case !ok || !e.Type().IsRegular(): // not a file of the store
			return nil
		case referenced[d]:
			return s.files.Move(path, s.blobPath(d))
		}
		return s.files.Remove(path)
	})
}

// referencedBlobs returns the digests of blobs that have a record.
func (s *Store) referencedBlobs() map[key.Digest]bool {
	referenced := make(map[key.Digest]bool)
	for _, r := range s.index.all(format.Place.IsBlob) {
		var h format.Header
		if _, p, ok := s.index.find(r.FP); ok && p.Header(&h, r.Place) == nil {
			referenced[h.Ref] = true
		}
	}
	return referenced
}

// eachBlob calls visit for every blob, and quarantines entries that only have the name of
// one.
func (s *Store) eachBlob(visit func(d key.Digest, e fs.DirEntry, path string) error) error {
	return s.files.Each(s.files.Path(vfs.Blobs), func(path string, e fs.DirEntry) error {
		if !isFanName(e.Name()) {
			return nil
		}
		if !e.IsDir() {
			s.files.Quarantine(path, vfs.ErrStray)
			return nil
		}
		return s.files.Each(path, func(path string, e fs.DirEntry) error {
			d, ok := parseBlobName(e.Name())
			if !ok {
				return nil
			}
			if !e.Type().IsRegular() || s.blobPath(d) != path {
				s.files.Quarantine(path, vfs.ErrStray)
				return nil
			}
			return visit(d, e, path)
		})
	})
}

func parseBlobName(name string) (d key.Digest, ok bool) {
	d[0] = key.DigestOf(nil)[0]
	if len(name) != hex.EncodedLen(len(d)-1) {
		return d, false
	}
	_, err := hex.Decode(d[1:], []byte(name))
	return d, err == nil
}
