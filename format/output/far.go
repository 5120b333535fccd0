package output

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/fs/cleanup"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/urlpath"
	"github.com/larder-data/larder/objectstore"
)

// far writes files at a URL. Each is first written to a local temporary file. It is sent
// when it is complete, unless the remote file has the same content.
type far struct {
	env     *component.Env
	url     string
	reached bool // the destination is known to exist
	wrote   map[string]objectstore.Content
}

func farAt(ctx context.Context, env *component.Env, at string) (Files, error) {
	if err := CheckPath(component.Path(at)); err != nil {
		return nil, err
	}
	f := &far{env: env, url: at, wrote: map[string]objectstore.Content{}}
	return f, f.Check(ctx, "")
}

// inDir returns the URL of a file in a directory.
func inDir(dir, name string) string {
	return strings.TrimSuffix(dir, "/") + "/" + url.PathEscape(name)
}

func (f *far) at(name string) string {
	if name == "" {
		return f.url
	}
	return inDir(f.url, name)
}

func (f *far) Path(name string) string { return objectstore.Name(f.at(name)) }

func (f *far) Check(ctx context.Context, names ...string) error {
	all := make([]pathguard.Output, len(names))
	for i, name := range names {
		all[i] = pathguard.Output{Owner: "node " + f.env.Node, Path: f.at(name), Files: true}
	}
	return f.env.Inputs.Check(ctx, all...)
}

func (f *far) LockOutput(ctx context.Context) (release func(), err error) {
	return takeTurn(ctx, f.env, urlpath.Spelled(f.url))
}

func (f *far) Names(ctx context.Context, name func(name string)) error {
	all, err := objectstore.List(ctx, strings.TrimSuffix(f.url, "/")+"/")
	if err != nil {
		return err
	}
	f.reached = true
	for _, u := range all {
		u = objectstore.Name(u)
		if n, err := url.PathUnescape(u[strings.LastIndexByte(u, '/')+1:]); err == nil {
			name(n)
		}
	}
	return nil
}

// Tidy does nothing: files of killed writers never became visible.
func (f *far) Tidy(func(name string) bool) error { return nil }

func (f *far) Write(ctx context.Context, name string, how Overwrite, write func(io.Writer) error) (int64, error) {
	at := f.at(name)
	was, err := objectstore.Stat(ctx, at)
	if err != nil {
		return 0, err
	}
	if was != nil && how != Replace {
		return 0, already(objectstore.Name(at))
	}
	if was == nil {
		if err := f.reach(ctx); err != nil {
			return 0, err
		}
	}
	s, err := newSpool(objectstore.Name(at))
	if err != nil {
		return 0, err
	}
	defer s.close()
	content, err := s.fill(write)
	if err != nil {
		return 0, err
	}
	f.wrote[name] = objectstore.Content{Size: content.Size, Sum: content.Sum}
	if was.IsOf(content) {
		return 0, nil
	}
	return content.Size, objectstore.Put(ctx, at, content, was)
}

// reach checks once whether the bucket exists, before files are computed that could not
// be written there. For a missing object, services do not report the reason.
func (f *far) reach(ctx context.Context) error {
	if f.reached {
		return nil
	}
	f.reached = true
	if _, err := objectstore.List(ctx, strings.TrimSuffix(f.url, "/")+"/"); errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return context.Cause(ctx)
}

func (f *far) Remove(ctx context.Context, name string) error {
	at := f.at(name)
	was, err := objectstore.Stat(ctx, at)
	if err != nil || was == nil {
		return err
	}
	return objectstore.Delete(ctx, at, *was)
}

// settling is the number of files checked concurrently at the end.
const settling = 16

func (f *far) Settle(ctx context.Context, named func(name string) bool) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(settling)
	err := f.Names(ctx, func(name string) {
		if _, ours := f.wrote[name]; named(name) && !ours {
			g.Go(func() error { return f.mixed(name) })
		}
	})
	for name, content := range f.wrote {
		g.Go(func() error {
			now, err := objectstore.Stat(ctx, f.at(name))
			if err == nil && !now.IsOf(content) {
				err = f.mixed(name)
			}
			return err
		})
	}
	return cmp.Or(g.Wait(), err)
}

// mixed is the error of a file that another process has written among those written
// here.
func (f *far) mixed(name string) error {
	return fmt.Errorf("%s: another writer changed these files during the run; stop it and run again (%w)", f.Path(name), objectstore.ErrChanged)
}

// A spool is a temporary file with the content of a file to send.
type spool struct {
	*os.File
	to     string
	remain *cleanup.Remain
}

func newSpool(to string) (*spool, error) {
	f, err := os.CreateTemp("", "larder-send-*")
	if err != nil {
		return nil, spoolError(to, err)
	}
	s := &spool{File: f, to: to}
	if os.Remove(f.Name()) != nil { // some systems cannot remove open files
		s.remain = cleanup.Add(func() error { return removed(os.Remove(f.Name())) })
	}
	return s, nil
}

// fill calls write with the file, and returns a description of its content.
func (s *spool) fill(write func(io.Writer) error) (c objectstore.Content, err error) {
	sum := sha256.New()
	b := bufio.NewWriterSize(io.MultiWriter(s, sum), 1<<16)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		c.Size, err = s.Seek(0, io.SeekCurrent)
	}
	c.Body, c.Sum = s.File, hex.EncodeToString(sum.Sum(nil))
	return c, err
}

// Write implements io.Writer.
func (s *spool) Write(b []byte) (int, error) {
	n, err := s.File.Write(b)
	if err != nil {
		return n, spoolError(s.to, err)
	}
	return n, nil
}

func spoolError(to string, err error) error {
	return fmt.Errorf("%s: temporary file of the upload: %w; TMPDIR sets its directory", to, err)
}

func (s *spool) close() {
	_ = s.Close()
	if s.remain != nil {
		_ = os.Remove(s.Name())
		s.remain.Done()
	}
}
