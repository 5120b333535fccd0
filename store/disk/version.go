package disk

import (
	"errors"
	"fmt"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// FormatVersion is the version of the directories that this package writes. It reads all
// earlier versions.
const FormatVersion = format.Version

// A VersionError is returned by Open for a directory written by a newer Larder.
type VersionError struct {
	Dir     string
	Version int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("store: %s has format version %d, above %d; update the program, or use another directory", e.Dir, e.Version, format.Version)
}

// checkFormat reads the FORMAT file. It replaces a missing, damaged or older one.
func (s *Store) checkFormat() error {
	path := s.files.Path(vfs.FormatFile)
	text, err := s.files.Read(path, 4096)
	if err == nil {
		var version int
		version, err = format.ParseVersion(text)
		switch {
		case err != nil:
		case version > format.Version:
			return &VersionError{s.files.Dir, version}
		case version == format.Version || s.files.ReadOnly:
			return nil
		default:
			return s.raiseFormat()
		}
	}
	switch {
	case errors.Is(err, format.ErrDamaged):
		s.files.Quarantine(path, err)
	case !vfs.IsObstructed(err):
		return err // an unreadable file may be a newer format
	}
	if s.files.ReadOnly {
		return nil
	}
	return s.raiseFormat()
}

// raiseFormat writes the FORMAT file before anything that older programs do not know.
func (s *Store) raiseFormat() error {
	if err := s.files.WriteMark(); !errors.Is(err, store.ErrFull) {
		return err
	}
	return nil // a full disk may have space later
}
