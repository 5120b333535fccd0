// Package filestate reads what the system reports about files without reading their
// content: names, sizes, times and positions. Equal stamps represent equal content,
// because a write gives a file another time.
//
// Clocks of file systems are coarse, and not every write through a mapping sets a time.
// So a file whose last change is recent may change again without a trace. Such files
// are represented by their content, too ([Stamp.Contents]).
package filestate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/larder-data/larder/key"
)

// A Root is a file, or a directory with everything in and below it. Links are followed.
type Root struct {
	Path string
	Flat bool // without subdirectories
}

// A Stamp is the state of some files.
type Stamp struct {
	Sum   key.Digest // of names, positions, sizes and times
	files []file
}

// file is the path and the state of a file.
type file struct {
	root, name string
	stat       key.FileStat
}

// Of returns the stamp of everything at the roots. A missing root is part of the stamp,
// too.
func Of(ctx context.Context, roots []Root) (*Stamp, error) {
	s := &Stamp{}
	var sum []byte
	for _, r := range roots {
		found, err := r.entries(ctx)
		if err != nil {
			return nil, err
		}
		byName := func(a, b entry) int { return strings.Compare(a.name, b.name) }
		if !slices.IsSortedFunc(found, byName) { // sorted if it comes from one directory
			slices.SortFunc(found, byName)
		}
		sum = slices.Grow(sum, 64*len(found))
		sum = binary.AppendUvarint(sum, uint64(len(found)))
		s.files = slices.Grow(s.files, len(found))
		for i := range found {
			e := &found[i]
			sum = e.append(sum)
			if !e.lost {
				s.files = append(s.files, file{r.Path, e.name, e.stat})
			}
		}
	}
	s.Sum = key.DigestOf(sum)
	return s, nil
}

// Files yields the files by root: their names relative to it, with slashes, and their
// states.
func (s *Stamp) Files() iter.Seq2[string, key.FileStat] {
	return func(yield func(string, key.FileStat) bool) {
		for _, f := range s.files {
			if !yield(f.name, f.stat) {
				return
			}
		}
	}
}

// entry is a file at a root.
type entry struct {
	name string // relative to the root, with slashes; "" for the root itself
	stat key.FileStat
	lost bool // a link without a target
	kind kind
}

type kind byte

const (
	aFile kind = iota
	aDir
	gone
)

func (e entry) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(e.name)))
	b = append(b, e.name...)
	if e.lost {
		return append(b, 1)
	}
	b = append(b, 0)
	for _, n := range []uint64{e.stat.Dev, e.stat.Ino, uint64(e.stat.Size), uint64(e.stat.Mtime), uint64(e.stat.Ctime)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func (r Root) entries(ctx context.Context) ([]entry, error) {
	switch info, err := os.Stat(r.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return []entry{{lost: true}}, nil // distinct from an empty directory
	case err != nil:
		return nil, err
	case !info.IsDir():
		return []entry{{stat: key.StatOf(info)}}, nil
	}
	return r.directory(ctx, nil, "", 0)
}

// maxDepth bounds the nesting of directories, so that circular links end.
const maxDepth = 64

// directory adds the files in and below a directory. below is its name relative to the
// root.
func (r Root) directory(ctx context.Context, found []entry, below string, depth int) ([]entry, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: more than %d directories in each other", filepath.Join(r.Path, below), maxDepth)
	}
	first := len(found)
	found, dirs, err := list(found, filepath.Join(r.Path, below))
	if err != nil {
		return nil, err
	}
	if below != "" {
		for i := range found[first:] {
			found[first+i].name = below + "/" + found[first+i].name
		}
	}
	if r.Flat {
		return found, nil
	}
	for _, name := range dirs {
		if below != "" {
			name = below + "/" + name
		}
		if found, err = r.directory(ctx, found, name, depth+1); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// maxBytes bounds the bytes read for recently changed files.
const maxBytes = 4 << 30

// ErrTooMuch is returned if the recently changed files are larger than maxBytes.
var ErrTooMuch = errors.New("filestate: too much has changed within the last minute")

// Recent lists the files for which a change after the given time might not show, and
// their total size in bytes.
func (s *Stamp) Recent(at time.Time) (paths []string, bytes int64) {
	shows := map[uint64]bool{} // file systems that show the changes of settled files
	for i := range s.files {
		f := &s.files[i]
		settled := f.stat.Settled(at)
		if settled && shows[f.stat.Dev] {
			continue
		}
		path := filepath.Join(f.root, filepath.FromSlash(f.name))
		if settled && key.ShowsChanges(path, f.stat, at) {
			shows[f.stat.Dev] = true
			continue
		}
		paths = append(paths, path)
		bytes += f.stat.Size
	}
	return paths, bytes
}

// Contents returns a sum of the content of the [Stamp.Recent] files; the zero digest
// means none. It reads several files concurrently. The sum is for comparison only. The
// seed must be unpredictable, so that no content can be crafted to match another.
func (s *Stamp) Contents(ctx context.Context, at time.Time, seed uint64) (key.Digest, error) {
	recent, bytes := s.Recent(at)
	switch {
	case len(recent) == 0:
		return key.Digest{}, nil
	case bytes > maxBytes:
		return key.Digest{}, ErrTooMuch
	}
	sums := make([]byte, sumBytes*len(recent))
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(4, len(recent)) {
		g.Go(func() (err error) {
			sum := xxh3.NewSeed(seed)
			for i := next.Add(1) - 1; i < int64(len(recent)) && err == nil; i = next.Add(1) - 1 {
				if err = key.SumFile(ctx, recent[i], sum); err == nil {
					b := sum.Sum128().Bytes()
					copy(sums[sumBytes*i:], b[:])
				}
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return key.Digest{}, err
	}
	return key.DigestOf(sums), nil
}

const sumBytes = 16
