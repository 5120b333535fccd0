package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

// ErrChanged is returned for a file that changed after its content was used in a key.
// Results computed from it would be cached under a wrong key.
var ErrChanged = errors.New("the file changed while it was in use; run again")

// File returns the item in a file, encoded as its extension says. The file is opened on
// demand, never written to, and identified by its content. memo, which may be nil,
// caches digests of unchanged files.
func File(path string, memo key.Memo) *Item {
	return ItemFrom(newFile(path, memo))
}

// newFile returns the origin of the item in a file.
func newFile(path string, memo key.Memo) *FileOrigin {
	return &FileOrigin{path: path, memo: memo}
}

// FileOrigin is the origin of an item that has a file of its own.
type FileOrigin struct {
	path    string
	memo    key.Memo
	listing *Listing // may be nil

	mu     sync.Mutex
	digest key.Digest   // zero until it is known
	stat   key.FileStat // of the digested bytes, or else of the bytes read
	read   bool         // bytes were returned before there was a digest
}

// Path returns the file's path.
func (f *FileOrigin) Path() string { return f.path }

func (f *FileOrigin) String() string { return display.Name(f.path) }

// Ext returns the string after the last dot of the file's name.
func (f *FileOrigin) Ext(context.Context) (string, error) {
	return strings.TrimPrefix(filepath.Ext(f.path), "."), nil
}

// Ref identifies the file by its content.
func (f *FileOrigin) Ref(ctx context.Context) (key.Ref, error) {
	d, err := f.Digest(ctx)
	return key.Content(d), err
}

// Digest returns the digest of the file's content at the first request or read.
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
	if f.read && stat != f.stat {
		return key.Digest{}, fmt.Errorf("%s: %w", f.path, ErrChanged)
	}
	if err := f.listing.still(f.path, stat); err != nil {
		return key.Digest{}, err
	}
	f.digest, f.stat = d, stat
	return d, nil
}

// Bytes reads the file. Its result always matches Digest, whichever is called first;
// otherwise the error is ErrChanged.
func (f *FileOrigin) Bytes(ctx context.Context) ([]byte, error) {
	return f.bytes(ctx, func(n int64) []byte { return make([]byte, n) })
}

// bytes is Bytes, with memory allocated by the given function.
func (f *FileOrigin) bytes(ctx context.Context, memory func(n int64) []byte) ([]byte, error) {
	ctx, leave := timing.Enter(ctx, timing.Read, filepath.Ext(f.path))
	defer leave()
	b, stat, err := readFile(ctx, f.path, memory)
	if err != nil {
		return nil, err
	}
	if err := f.take(stat, stat.Settled(time.Now()), func() key.Digest { return key.DigestOf(b) }); err != nil {
		return nil, err
	}
	return b, nil
}

// take records that the whole file was read in one state, with the digest that sum
// returns. settled says whether its times would show any other state.
func (f *FileOrigin) take(stat key.FileStat, settled bool, sum func() key.Digest) error {
	if err := f.listing.still(f.path, stat); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case (f.read || !f.digest.IsZero()) && settled && stat == f.stat:
	case f.digest.IsZero() && !f.read && settled:
		f.stat, f.read = stat, true
	case f.digest.IsZero() && !f.read:
		f.digest, f.stat = sum(), stat
	case sum() != f.digest:
		return fmt.Errorf("%s: %w", f.path, ErrChanged)
	}
	return nil
}

// Check returns an error if the file is no longer in the state that its [Listing] found.
// Callers that read the file by its path call it after the read.
func (f *FileOrigin) Check() error { return f.listing.file(f.path) }

// ReadBytes calls read for size bytes of an item with an extension, once there is memory
// for them. It is for origins that are not files of their own. A size above the limit of
// an item ([codec.MaxItem]) is an error.
func ReadBytes(ctx context.Context, ext string, size int64, read func([]byte) error) ([]byte, error) {
	if err := codec.CheckItem(size); err != nil {
		return nil, err
	}
	ctx, leave := timing.Enter(ctx, timing.Read, ext)
	defer leave()
	done, err := takeIn(ctx, size)
	if err != nil {
		return nil, err
	}
	defer done()
	b := make([]byte, size)
	return b, read(b)
}

// Room waits until the given number of bytes may be allocated (see [pool.Reserve]). It
// counts them until the execution of ctx ends or, if there is none, until the returned
// function is called. It is for sources that decode what they read.
func Room(ctx context.Context, bytes int64) (done func(), err error) { return takeIn(ctx, bytes) }

// readFile returns a file's content with the status before and after the read, which
// must be equal.
func readFile(ctx context.Context, path string, memory func(n int64) []byte) (b []byte, stat key.FileStat, err error) {
	file, stat, err := openRegular(path)
	if err != nil {
		return nil, stat, err
	}
	defer file.Close()
	done, err := takeIn(ctx, stat.Size)
	if err != nil {
		return nil, stat, err
	}
	defer done()
	b = memory(stat.Size)
	if _, err := io.ReadFull(file, b); err != nil {
		return nil, stat, fmt.Errorf("read %s: %w", path, err)
	}
	after, err := stateOf(file)
	if err != nil {
		return nil, stat, err
	}
	if after != stat {
		return nil, stat, fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return b, stat, nil
}
