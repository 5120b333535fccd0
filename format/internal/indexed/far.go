package indexed

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore"
)

// openFar is [Open] for a file at a URL.
func openFar(ctx context.Context, path string, l *larder.Larder, scan Scan) (*File, error) {
	f, err := objectstore.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	in := &File{Path: f.Name(), size: f.Size, settled: f.Firm}
	if in.far, err = rows.Keep(ctx, f, l); err != nil {
		return nil, err
	}
	return in, rows.Changed(in.findFar(ctx, l, scan))
}

// findFar computes the index, or finds it in the cache. A scan of the file caches only
// the index, because a large archive would fill the store with data that no caller
// requested. Data of compressed files is cached, as each process reads it again.
func (in *File) findFar(ctx context.Context, l *larder.Larder, scan Scan) (err error) {
	if rows.PackingOf(in.Path) != rows.Plain {
		return in.unpackFar(ctx, scan)
	}
	if scan.Name == "" { // not cached, and blocks of a dry run are read again
		from, done := in.far.From(ctx)
		in.Index, err = scan.Func(ctx, in.Path, from, in.size)
		return errors.Join(err, done())
	}
	through := func(ctx context.Context) ([]byte, error) {
		s := in.far.Stream(ctx)
		defer s.Close()
		packed, err := scan.packed(s)
		if err != nil {
			return nil, err
		}
		if packed {
			return nil, rows.ErrPacked // which is not cached
		}
		return scan.Func(ctx, in.Path, s, in.size)
	}
	if l != nil && in.settled {
		x, err := in.cached(ctx, l, scan, through)
		if err == nil && scan.Check(x) == nil {
			in.Index = x
			return nil
		}
		if errors.Is(err, rows.ErrPacked) {
			return in.unpackFar(ctx, scan)
		}
		if err != nil && !errors.Is(err, larder.ErrNotCached) {
			return err // without scanning the file again
		}
	}
	if in.Index, err = through(ctx); errors.Is(err, rows.ErrPacked) {
		return in.unpackFar(ctx, scan)
	}
	return err
}

// unpackFar is unpack for a file at a URL.
func (in *File) unpackFar(ctx context.Context, scan Scan) error {
	from, done := in.far.From(ctx)
	return errors.Join(in.unpack(ctx, io.NewSectionReader(from, 0, in.size), scan), done())
}

// throughFar is [File.Through] for a file at a URL.
func (in *File) throughFar(ctx context.Context, read func(from io.ReaderAt) error) error {
	if in.text != nil {
		return read(in.text)
	}
	from, done := in.far.From(ctx)
	return rows.Changed(errors.Join(read(from), done()))
}

// Unread reports whether an error is about a file that cannot be read at all, whatever
// its content.
func Unread(err error) bool {
	_, here := errors.AsType[*fs.PathError](err)
	_, far := errors.AsType[*objectstore.Error](err)
	return here || far
}

// partOp identifies a part of a file at a URL without reading it. The content of a part
// does not depend on any program.
var partOp, errPartOp = key.NewOp("part of a file at a place", key.VersionOf("github.com/larder-data/larder/format/internal/indexed", "1"))

// refFar identifies bytes of a file at a URL by their position and the version of the
// file, because their content is known only after fetching. ext is part of the identity.
func (in *File) refFar(ext string, at, size int64) (key.Ref, error) {
	if errPartOp != nil {
		return key.Ref{}, errPartOp
	}
	a, err := partOp.Call(in.far.Identity(), ext, at, size)
	if err != nil {
		return key.Ref{}, err
	}
	return key.Result(a.Key(), "bytes"), nil
}

// RefMade identifies what this program computes from a file at a URL: by what, of and
// the version of the file. ok is false if only the content identifies it.
func (in *File) RefMade(what string, of ...any) (ref key.Ref, ok bool, err error) {
	if in.far == nil || !in.settled || in.text != nil {
		return key.Ref{}, false, nil
	}
	build, err := key.Build()
	if err != nil {
		return key.Ref{}, false, nil //nolint:nilerr // then its content names it
	}
	a, err := key.NewAction(what, build, append([]any{in.far.Identity()}, of...)...)
	if err != nil {
		return key.Ref{}, false, err
	}
	return key.Result(a.Key(), "bytes"), true, nil
}
