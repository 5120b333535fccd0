package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/larder-data/larder/store/disk/internal/format"
)

// Read reads a regular file of at most limit bytes.
func (f *Directory) Read(path string, limit int64) ([]byte, error) {
	file, info, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %d bytes are more than %d", format.ErrDamaged, info.Size(), limit)
	}
	return readPieces(file, info.Size())
}

// readPieces reads n bytes, too few to contain a hole, or the bytes before the first piece
// of zeros, of which a crash may leave any number.
func readPieces(r io.Reader, n int64) ([]byte, error) {
	b := make([]byte, 0, min(n, maxAhead))
	for int64(len(b)) < n {
		from := len(b)
		piece := int(min(n-int64(from), format.MaxZeros))
		b = slices.Grow(b, piece)[:from+piece]
		if got, err := io.ReadFull(r, b[from:]); err != nil {
			return b[:from+got], err
		}
		if err := format.CheckZeros(b[from:]); err != nil {
			return b[:from], err
		}
	}
	return b, nil
}

// maxAhead is how much memory is allocated for bytes not read yet.
const maxAhead = 64 << 20

// Open opens a file for reading. It refuses directories, links, pipes and the like, some of
// which would block.
func (f *Directory) Open(path string) (*File, os.FileInfo, error) {
	info, err := f.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w: not a regular file", format.ErrDamaged)
	}
	file, err := f.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// Map maps a non-empty file that will be read in parts, or reads it if mapping fails. The
// content is valid until release.
func (f *Directory) Map(path string) (data []byte, release func() error, err error) {
	file, info, err := f.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }() // only read
	if info.Size() == 0 {
		return nil, nil, fmt.Errorf("%w: it is empty", format.ErrDamaged)
	}
	if err := file.checkHoles(info.Size()); err != nil {
		return nil, nil, err
	}
	if data, err = mapOpen(file.File, info.Size()); err == nil {
		return data, func() error { return unmap(data) }, nil
	}
	data, err = readPieces(io.NewSectionReader(file, 0, info.Size()), info.Size())
	return data, func() error { return nil }, err
}

// Each calls visit for the entries of a directory, which may be missing. It ignores entries
// that vanish.
func (f *Directory) Each(dir string, visit func(path string, e fs.DirEntry) error) error {
	entries, err := f.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if err := visit(filepath.Join(dir, e.Name()), e); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Size returns the size of a file, 0 if it does not exist.
func (f *Directory) Size(path string) int64 {
	info, err := f.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// TreeSize adds up the regular files under path. It ignores files that vanish.
func TreeSize(path string) (size int64, err error) {
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size, err
}
