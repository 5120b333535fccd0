package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/larder-data/larder/store"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// What is in the folder of a store.
const (
	packsDir      = "packs"
	blobsDir      = "blobs"
	manifestsDir  = "manifests"
	touchDir      = "touch"
	quarantineDir = "quarantine"
	tempDir       = "tmp"

	formatFile  = "FORMAT"
	readmeFile  = "README"
	tagFile     = "CACHEDIR.TAG"
	leasesFile  = "leases"
	collectFile = "gc.lock"
)

const readme = `This folder is a Larder store. It keeps the results of computations, so that
they need not be computed again.

It holds nothing that cannot be made anew: it may be deleted at any time, as a
whole. It may be copied or moved as a whole while no program uses it. Please
change no file in it.

packs/       records, many to a file, and indexes of these files
blobs/       large values, one to a file, named by SHA-256
manifests/   named lists of records
packs.idx    an index of all packs
touch/       when old records were last used
quarantine/  what was found damaged, kept for a while for who wants to look
tmp/, trash/ files that are being written or removed
`

// The signature is fixed by https://bford.info/cachedir/.
const cachedirTag = `Signature: 8a477f597d28d172789f06886806bc55
# This file is a cache directory tag created by Larder.
# For information about cache directory tags, see https://bford.info/cachedir/
`

// A VersionError is returned by Open for a folder written by a newer Larder.
type VersionError struct {
	Dir     string
	Version int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("store: %s has format version %d and this program knows versions up to %d: update the program or use another folder", e.Dir, e.Version, format.Version)
}

// layOut makes what the folder lacks, and marks anew that are damaged: a folder
// with none left is no store.
func (s *Store) layOut() error {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return err
	}
	for _, dir := range folders {
		if err := s.makeDir(filepath.Join(s.dir, dir)); err != nil {
			return err
		}
	}
	for _, f := range []struct{ name, text string }{{readmeFile, readme}, {tagFile, cachedirTag}} {
		path := filepath.Join(s.dir, f.name)
		if b, err := readSmall(path, 4096); err == nil && string(b) == f.text {
			continue
		}
		if err := s.writeFile(path, []byte(f.text)); err != nil {
			return err
		}
	}
	return nil
}

// checkFormat reads the FORMAT file. A missing, damaged or older one is written
// anew.
func (s *Store) checkFormat() error {
	path := filepath.Join(s.dir, formatFile)
	text, err := readSmall(path, 4096)
	if err == nil {
		var version int
		version, err = format.ParseVersion(text)
		switch {
		case err != nil:
		case version > format.Version:
			return &VersionError{s.dir, version}
		case version == format.Version || s.readOnly:
			return nil
		default:
			return s.raiseFormat()
		}
	}
	switch {
	case errors.Is(err, format.ErrDamaged):
		s.setAside(path, err)
	case !isObstructed(err):
		return err // what is not read may be a newer format
	}
	if s.readOnly {
		return nil
	}
	return s.raiseFormat()
}

// raiseFormat writes the FORMAT file before anything else that older programs do
// not know.
func (s *Store) raiseFormat() error {
	if err := s.writeMark(); !errors.Is(err, store.ErrFull) {
		return err
	}
	return nil // a full disk has room again later
}

// makeDir makes a folder, and moves what is not one out of the way: a link to
// one, too, as what lies behind it may be anybody's and is swept like all else.
func (s *Store) makeDir(path string) error {
	err := os.Mkdir(path, 0o777)
	if err == nil && s.sync {
		return syncDir(filepath.Dir(path))
	}
	if err == nil {
		return nil
	}
	info, lerr := os.Lstat(path)
	if lerr == nil && info.IsDir() {
		return nil
	}
	if _, lerr := os.Lstat(path); lerr == nil {
		s.obstacle(path)
		err = os.Mkdir(path, 0o777)
	}
	return asStoreError(err)
}

// obstacle moves away what is where a file or folder of the store belongs.
func (s *Store) obstacle(path string) {
	if filepath.Base(path) == quarantineDir {
		_ = os.Remove(path) // the quarantine cannot take itself
		return
	}
	s.setAside(path, errStray)
}

// writeFile makes path hold data, at once or not at all.
func (s *Store) writeFile(path string, data []byte) error {
	if err := s.mark(); err != nil {
		return err
	}
	return s.fill(path, data)
}

// fill is writeFile for the mark itself.
func (s *Store) fill(path string, data []byte) error {
	return s.fillBy(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeFileBy makes path hold what fill writes, at once or not at all, and
// counts by how much the folder grew.
func (s *Store) writeFileBy(path string, fill func(io.Writer) error) error {
	if err := s.mark(); err != nil {
		return err
	}
	return s.fillBy(path, fill)
}

func (s *Store) fillBy(path string, fill func(io.Writer) error) error {
	temp, err := s.writeTemp(0o666, fill)
	if err != nil {
		return err
	}
	grown := fileSize(temp) - fileSize(path)
	if err := s.moveIn(temp, path); err != nil {
		return err
	}
	s.room.held.Add(grown)
	return nil
}

// fileSize is the size of a file, 0 if there is none.
func fileSize(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// writeTemp makes a file of what fill writes, for moveIn.
func (s *Store) writeTemp(mode fs.FileMode, fill func(io.Writer) error) (temp string, err error) {
	f, err := s.temps.create(s, mode)
	if err != nil {
		return "", asStoreError(err)
	}
	err = fill(f)
	if err == nil && s.sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		removeTemp(f.Name())
		return "", asStoreError(err)
	}
	return f.Name(), nil
}

// moveIn moves a file of writeTemp to its place, or removes it.
func (s *Store) moveIn(temp, path string) error {
	err := s.rename(temp, path)
	if err == nil && s.sync {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		removeTemp(temp)
	}
	return asStoreError(err)
}

// removeTemp does its best: Collect removes what is left.
func removeTemp(path string) { _ = os.Remove(path) }

// rename moves a finished file to its place, which it clears if it must.
func (s *Store) rename(from, to string) error {
	err := os.Rename(from, to)
	if err == nil || isFull(err) {
		return err
	}
	if err := s.makeDir(filepath.Dir(to)); err != nil {
		return err
	}
	if info, lerr := os.Lstat(to); lerr == nil && info.IsDir() {
		s.obstacle(to)
	}
	return os.Rename(from, to)
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %d bytes are more than %d", format.ErrDamaged, info.Size(), limit)
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

// openRegular opens a file for reading and refuses folders, links, pipes and
// the like, some of which would block.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w: not a regular file", format.ErrDamaged)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// syncDir makes new names in a folder safe from a loss of power, where that
// needs to be asked for.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// randomID names files. Names of packs must never be used again, for their
// records are sealed with them: 64 random bits see to that.
func randomID() uint64 { return rand.Uint64() }

func isObstructed(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isReadOnly(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// asStoreError adds the sentinel that callers of a store look for.
func asStoreError(err error) error {
	switch {
	case err == nil || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrReadOnly):
		return err
	case isFull(err):
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case isReadOnly(err):
		return fmt.Errorf("%w: %w", store.ErrReadOnly, err)
	}
	return err
}
