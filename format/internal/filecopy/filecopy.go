// Package filecopy provides copies of files without decoding: by a link, by sharing
// blocks on disk, or by copying bytes.
package filecopy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
)

// A Way says how a sink copies the file of an item.
type Way string

// The ways to copy a file. Each falls back to the following ones, in this order:
// HardLink or SymbolicLink, then Reflink, then the bytes.
const (
	Reflink      Way = "reflink-or-copy" // a separate file, sharing blocks on disk if the file system can
	HardLink     Way = "hard-link"       // another name of the same file: a change of one changes both
	SymbolicLink Way = "symbolic-link"   // a link with the path of the file
	Rewrite      Way = "rewrite"         // decode and encode again; a format that cannot be written is an error
)

// File creates dst, which must not exist, from the file at src without decoding it. It
// returns how many bytes it copied, and whether it used the requested way: false means a
// copy instead of a link. A file that changes while it is copied is an error.
func (w Way) File(dst, src string) (n int64, asked bool, err error) {
	switch w {
	case HardLink:
		err = os.Link(pathguard.Resolve(src), dst)
	case SymbolicLink:
		err = os.Symlink(pathguard.Resolve(src), dst)
	default:
		n, err = copyFile(dst, src)
		return n, true, err
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return 0, true, err
	}
	n, err = copyFile(dst, src)
	return n, false, err
}

// Linked reports whether path is a link of either kind to the file at src.
func Linked(path, src string) bool {
	a, erra := os.Stat(path)
	b, errb := os.Stat(src)
	return erra == nil && errb == nil && os.SameFile(a, b)
}

// copyFile clones src or copies its bytes, within the kernel if possible.
func copyFile(dst, src string) (n int64, err error) {
	in, err := os.Open(src)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	before, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if !before.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a regular file", src)
	}
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	if clone(out, in) != nil {
		_, err = io.Copy(out, in)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, err
	}
	after, err := in.Stat()
	if err == nil && key.StatOf(after) != key.StatOf(before) {
		err = fmt.Errorf("%s: %w", src, dataset.ErrChanged)
	}
	return before.Size(), err
}

// Create creates a file, which must not exist, with the given bytes.
func Create(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
