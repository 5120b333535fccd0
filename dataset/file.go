package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/key"
)

// ErrChanged is returned for a file that is no longer what it was when it was
// named by its content: results computed from it would be kept under a wrong
// key.
var ErrChanged = errors.New("the file changed while it was in use; run again")

// File returns the item in a file, encoded as its extension says. The file is
// opened when it is asked for, never written to, and named by its content;
// memo (which may be nil) remembers digests of files that did not change.
func File(path string, memo key.Memo) *Item {
	return ItemFrom(NewFile(path, memo))
}

// NewFile returns the origin of the item in a file.
func NewFile(path string, memo key.Memo) *FileOrigin {
	return &FileOrigin{path: path, memo: memo}
}

// FileOrigin is the origin of an item that lies in a file of its own.
type FileOrigin struct {
	path string
	memo key.Memo

	mu     sync.Mutex
	digest key.Digest // zero until first asked for
	stat   key.FileStat
}

// Path returns the file's path.
func (f *FileOrigin) Path() string { return f.path }

func (f *FileOrigin) String() string { return f.path }

// Ext returns the text after the last dot of the file's name.
func (f *FileOrigin) Ext(context.Context) (string, error) {
	return strings.TrimPrefix(filepath.Ext(f.path), "."), nil
}

// Ref names the file by its content.
func (f *FileOrigin) Ref(ctx context.Context) (key.Ref, error) {
	d, err := f.Digest(ctx)
	return key.Content(d), err
}

// Digest returns the digest of the file's content when it was first asked
// for.
func (f *FileOrigin) Digest(ctx context.Context) (key.Digest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.digest.IsZero() {
		return f.digest, nil
	}
	d, stat, err := key.DigestFile(ctx, f.path, f.memo)
	if err != nil {
		return key.Digest{}, err
	}
	f.digest, f.stat = d, stat
	return d, nil
}

// Bytes reads the file. If its digest was asked for before, the bytes are the
// ones that it names, or the error is ErrChanged.
func (f *FileOrigin) Bytes(context.Context) ([]byte, error) {
	b, unchanged, err := f.read()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.digest.IsZero() && !unchanged && key.DigestOf(b) != f.digest {
		return nil, fmt.Errorf("%s: %w", f.path, ErrChanged)
	}
	return b, nil
}

// read returns the content, and whether the file is known to be the one that
// was digested without digesting it again.
func (f *FileOrigin) read() (b []byte, unchanged bool, err error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%s: not a regular file", f.path)
	}
	b = make([]byte, info.Size())
	if _, err := io.ReadFull(file, b); err != nil {
		return nil, false, fmt.Errorf("read %s: %w", f.path, err)
	}
	stat := key.StatOf(info)
	f.mu.Lock()
	defer f.mu.Unlock()
	return b, stat == f.stat && stat.Settled(time.Now()), nil
}
