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

// ErrChanging is wrapped by the error for a file that is written to while it
// is read, so that no digest names its content.
var ErrChanging = errors.New("the file changes while it is read; run again when it is complete")

// A FileStat is what tells one state of a file from another without reading
// it. Two states with equal FileStats have the same content if the FileStat
// was [FileStat.Settled] when the content was read.
type FileStat struct {
	Dev, Ino uint64 // where the file is; 0 where the system does not say
	Size     int64  // bytes
	Mtime    int64  // last change of the content, nanoseconds since 1970
	Ctime    int64  // last change of content or status; 0 where the system does not say
}

// settleTime is how long after its last change a file may still change without
// a new time. Clocks of file systems are coarse, 2 s at worst; and of the writes
// through a mapping only the first has a new time until the system has written
// the page to disk, which Linux does within 35 s.
const settleTime = 40 * time.Second

// Settled reports whether a change of the file after now would show in its
// times: it has an identity, and the last change is more than 40 seconds past.
func (s FileStat) Settled(now time.Time) bool {
	limit := now.Add(-settleTime).UnixNano()
	return s.Ino != 0 && s.Ctime != 0 && s.Mtime < limit && s.Ctime < limit
}

// ShowsChanges reports whether a change after the given time of the file that lies
// at path, and had the state s then, would show in its times: it is settled, and
// its file system notes writes through a mapping.
func ShowsChanges(path string, s FileStat, at time.Time) bool {
	return s.Settled(at) && stampsMappings(path, s)
}

// A Memo remembers digests of files. It is used by many goroutines.
type Memo interface {
	Load(FileStat) (Digest, bool)
	Store(FileStat, Digest)
}

// DigestFile returns the digest of a regular file's content, and the state of
// the file that has it. Folders, devices, pipes and sockets are errors.
//
// Memo, which may be nil, is asked first, and told afterwards, about settled
// files only: see [FileStat.Settled]. Files on a file system in memory are read
// each time, as writes through a mapping leave no time there. On one that is
// shared over a network, what others write through a mapping may go unseen.
// Reading stops when ctx is done.
func DigestFile(ctx context.Context, path string, memo Memo) (Digest, FileStat, error) {
	return fileDigester{memo, time.Now, stampsMappings}.digest(ctx, path)
}

// SumFile is [DigestFile] with another hash, which is reset before: for whoever asks
// whether a file is what it was, and names nothing by it.
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
	stamps func(path string, s FileStat) bool // the file system notes when a mapped file is written to
}

// attempts is how often a file that changes while it is read is read.
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

// read digests the file once. Only the state before and after is compared, so
// the caller has to ask again if it changed in between.
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

// readFile writes the content of a file to sum, and returns how it was before and
// after that, and when it began; if it was not the same, the error is ErrChanging.
func readFile(ctx context.Context, path string, now func() time.Time, sum io.Writer) (before FileStat, start time.Time, err error) {
	file, err := regularfile.Open(path)
	if err != nil {
		return before, start, err
	}
	defer file.Close()
	state, err := file.State()
	if err == nil {
		err = regular(path, state.Regular, state.Folder)
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

func regular(path string, is, folder bool) error {
	if is {
		return nil
	}
	what := "not a regular file"
	if folder {
		what = "a folder"
	}
	return fmt.Errorf("%s is %s; only regular files are named by their content", path, what)
}

// chunkBytes is read between two looks at whether to go on.
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

// readInto writes the bytes of r to sum, and returns how many these are. Where a file is
// said to have some number of them, it ends with less than could be read, and is not
// asked once more.
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
