package objectstore

import (
	"context"
	"fmt"
	"net/url"

	"github.com/larder-data/larder/internal/text/urlpath"
	"github.com/larder-data/larder/pool"
)

// A File is one version of a file at a URL. It may be used by many goroutines.
type File struct {
	Version
	name   string
	url    *url.URL
	driver Driver
}

// Open looks up the file at a URL.
func Open(ctx context.Context, path string) (*File, error) {
	d, u, err := parse(path)
	if err != nil {
		return nil, err
	}
	f := &File{name: Name(path), url: u, driver: d}
	v, err := retryStat(ctx, d, u)
	if err != nil {
		return nil, named(f.name, err)
	}
	f.Version = *v
	return f, nil
}

// Name returns the URL without user information, query and fragment, safe to show.
func (f *File) Name() string { return f.name }

// An Identity identifies the content of a file, as a part of keys.
type Identity struct {
	Name  string // see [File.Name]
	Query string // a digest of the query without credentials; "" if nothing is left
	Tag   string
	Size  int64
}

// Identity returns the identity of the content.
func (f *File) Identity() Identity {
	return Identity{f.name, urlpath.Query(f.url), f.Tag, f.Size}
}

// Reader opens n bytes of the file at the offset at. It delivers them all or returns an
// error; the error wraps [ErrChanged] if the file is no longer this version. It resumes
// after a broken connection. Close must be called.
func (f *File) Reader(ctx context.Context, at, n int64) (*Reader, error) {
	if at < 0 || n < 0 || at > f.Size-n {
		return nil, fmt.Errorf("%s: %d bytes at offset %d exceed the file of %d bytes", f.name, n, at, f.Size)
	}
	r := &Reader{ctx: ctx, of: f, at: at, end: at + n}
	if n == 0 {
		return r, nil
	}
	return r, named(f.name, r.open())
}

// ReadAt fills b from the offset at, which must be in the file.
func (f *File) ReadAt(ctx context.Context, b []byte, at int64) error {
	defer pool.Blocking(ctx, int64(len(b)))()
	r, err := f.Reader(ctx, at, int64(len(b)))
	if err != nil {
		return err
	}
	defer r.Close()
	return r.full(b)
}
