package key

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/fs/regularfile"
)

// ErrChanging is wrapped by the error for a file that is written to while it is read,
// so that no digest identifies its content.
var ErrChanging = errors.New("the file changes while it is read; run again when it is complete")

// A FileStat distinguishes states of a file without reading it. Two states with equal
// FileStats have the same content if the FileStat was [FileStat.Settled] when the
// content was read.
type FileStat struct {
	Dev, Ino uint64 // identity; 0 where the system does not report it
	Size     int64  // bytes
	Mtime    int64  // last change of the content, nanoseconds since 1970
	Ctime    int64  // last change of content or status; 0 where the system does not report it
}

// unseenTime is how long after a change of a file another change may leave its times as
// they are.
// Clocks of file systems have a resolution of up to 2 s. Of the writes through a
// mapping only the first sets a new time until the system has written the page to disk,
// which Linux does within 35 s.
const unseenTime = 40 * time.Second

// Settled reports whether a change of the file after now would show in its times. It
// needs an identity and a last change more than 40 seconds before now.
func (s FileStat) Settled(now time.Time) bool {
	limit := now.Add(-unseenTime).UnixNano()
	return s.Ino != 0 && s.Ctime != 0 && s.Mtime < limit && s.Ctime < limit
}

// ShowsChanges reports whether a change after the given time would show in the times of
// the file at path, whose state was s. The state must be settled, and the file system
// must update times on writes through a mapping.
func ShowsChanges(path string, s FileStat, at time.Time) bool {
	return s.Settled(at) && stampsMappings(path, s)
}

// A Memo stores digests of files. It is safe for concurrent use.
type Memo interface {
	Load(FileStat) (Digest, bool)
	Store(FileStat, Digest)
}

// DigestFile returns the digest of a regular file's content, and the state of the file
// that has it. It returns an error for directories, devices, pipes and sockets.
//
// It uses memo, which may be nil, for settled files only: see [FileStat.Settled]. It
// reads files on a file system in memory each time, because writes through a mapping
// set no new time there. On a network file system, it may miss what other machines
// write through a mapping. Reading stops when ctx is done.
func DigestFile(ctx context.Context, path string, memo Memo) (Digest, FileStat, error) {
	return fileDigester{memo, time.Now, stampsMappings}.digest(ctx, path)
}

// SumFile is [DigestFile] with another hash, which it resets first. It is for
// comparisons of one file with itself; the sum must not identify content.
func SumFile(ctx context.Context, path string, sum hash.Hash) error {
	info, err := os.Stat(path)
	if err == nil {
		err = regular(path, info.Mode().IsRegular(), info.IsDir())
	}
	if err != nil {
		return err
	}
	for range attempts {
		sum.Reset()
		if _, _, err = readFile(ctx, path, time.Now, sum); !errors.Is(err, ErrChanging) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", path, ErrChanging)
}

type fileDigester struct {
	memo   Memo
	now    func() time.Time
	stamps func(path string, s FileStat) bool // whether the file system updates times on writes through a mapping
}

const attempts = 3

func (f fileDigester) digest(ctx context.Context, path string) (Digest, FileStat, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = regular(path, info.Mode().IsRegular(), info.IsDir())
	}
	if err != nil {
		return Digest{}, FileStat{}, err
	}
	if f.memo != nil && !f.stamps(path, StatOf(info)) {
		f.memo = nil
	}
	if d, s, ok := f.known(info); ok {
		return d, s, nil
	}
	for range attempts {
		d, s, err := f.read(ctx, path)
		if !errors.Is(err, ErrChanging) {
			return d, s, err
		}
	}
	return Digest{}, FileStat{}, fmt.Errorf("%s: %w", path, ErrChanging)
}

func (f fileDigester) known(info fs.FileInfo) (d Digest, s FileStat, ok bool) {
	s = StatOf(info)
	if f.memo == nil || !s.Settled(f.now()) {
		return d, s, false
	}
	d, ok = f.memo.Load(s)
	return d, s, ok
}

// read digests the file once. It compares only the state before and after, so the
// caller must read again if the file may have changed in between.
func (f fileDigester) read(ctx context.Context, path string) (Digest, FileStat, error) {
	var sum Digester
	before, start, err := readFile(ctx, path, f.now, &sum)
	if err != nil {
		return Digest{}, FileStat{}, err
	}
	d := sum.Digest()
	if f.memo != nil && before.Settled(start) {
		f.memo.Store(before, d)
	}
	return d, before, nil
}

// readFile writes the content of a file to sum. It returns the file's state before
// that, and when it began. If the state changed, the error is ErrChanging.
func readFile(ctx context.Context, path string, now func() time.Time, sum io.Writer) (before FileStat, start time.Time, err error) {
	file, err := regularfile.Open(path)
	if err != nil {
		return before, start, err
	}
	defer file.Close()
	state, err := file.State()
	if err == nil {
		err = regular(path, state.Regular, state.Dir)
	}
	if err != nil {
		return before, start, err
	}
	start, before = now(), statOf(state)
	n, err := readInto(ctx, sum, file, before.Size)
	if err != nil {
		return before, start, fmt.Errorf("read %s: %w", path, err)
	}
	if state, err = file.State(); err != nil {
		return before, start, err
	}
	if n != before.Size || statOf(state) != before {
		return before, start, ErrChanging
	}
	return before, start, nil
}

func statOf(s regularfile.State) FileStat {
	return FileStat{Dev: s.Dev, Ino: s.Ino, Size: s.Size, Mtime: s.Mtime, Ctime: s.Ctime}
}

func regular(path string, is, dir bool) error {
	if is {
		return nil
	}
	what := "not a regular file"
	if dir {
		what = "a directory"
	}
	return fmt.Errorf("%s is %s; only regular files are named by their content", path, what)
}

// chunkBytes is read between two checks of ctx.
const chunkBytes = 1 << 20

var chunks = sync.Pool{New: func() any { return new([chunkBytes]byte) }}

// digestReader returns the digest and the number of the bytes of r.
func digestReader(ctx context.Context, r io.Reader) (d Digest, n int64, err error) {
	var sum Digester
	if n, err = readInto(ctx, &sum, r, 0); err != nil {
		return Digest{}, n, err
	}
	return sum.Digest(), n, nil
}

// readInto writes the bytes of r to sum, and returns their number. If size is known, a
// short read that reaches it ends the file without another read.
func readInto(ctx context.Context, sum io.Writer, r io.Reader, size int64) (n int64, err error) {
	chunk := chunks.Get().(*[chunkBytes]byte)
	defer chunks.Put(chunk)
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		m, err := r.Read(chunk[:])
		_, _ = sum.Write(chunk[:m])
		n += int64(m)
		switch {
		case err == io.EOF, err == nil && n == size && 0 < m && m < len(chunk):
			return n, nil
		case err != nil:
			return n, err
		}
	}
}
