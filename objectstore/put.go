package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"

	"golang.org/x/sync/errgroup"
)

// A Putter is a [Driver] that also writes files. Like every driver it tries everything
// once. A file appears atomically, and only if the URL still has the version was; nil means
// no file. Otherwise the error wraps [ErrChanged], and the existing file stays.
type Putter interface {
	Driver
	// CheckPut refuses a URL that cannot name a file. It sends no request.
	CheckPut(u *url.URL) error
	// Put writes a file in one request. body is c.Body, from its beginning. The service
	// must verify the bytes, and store c.Sum, which is [Version.Sum] from then on.
	Put(ctx context.Context, u *url.URL, body io.ReadSeeker, c Content, was *Version) error
	// Delete removes a file that is still the version was. A missing file is an error that
	// wraps fs.ErrNotExist.
	Delete(ctx context.Context, u *url.URL, was Version) error
}

// A PartPutter is a [Putter] that writes large files in parts, which are retried
// separately. Other Putters write any file in one request.
type PartPutter interface {
	Putter
	// Begin starts a file of parts.
	Begin(ctx context.Context, u *url.URL, c Content) (Parts, error)
}

// Parts are the parts of a file that is being written. They are invisible before the file
// appears.
type Parts interface {
	// Put sends part n, from 1 on, and replaces an earlier part n. It may be called by many
	// goroutines.
	Put(ctx context.Context, n int, body io.ReadSeeker, size int64) error
	// End makes the file of n parts appear, under the condition of [Putter].
	End(ctx context.Context, n int, was *Version) error
	// Abort removes the parts.
	Abort(ctx context.Context) error
}

// A Content is the content to write: the first Size bytes of Body, which is read several
// times, by many goroutines.
type Content struct {
	Body io.ReaderAt
	Size int64
	Sum  string // its SHA-256, 64 lower-case hexadecimal digits
}

// IsOf reports whether a version is known to have the content c, from a sum stored when it
// was written. It returns false for nil.
func (v *Version) IsOf(c Content) bool {
	return v != nil && v.Sum != "" && v.Sum == c.Sum && v.Size == c.Size
}

// CheckPut refuses paths that cannot be written. It sends no request.
func CheckPut(path string) error {
	p, u, err := putter(path)
	if err != nil {
		return err
	}
	return named(Name(path), p.CheckPut(u))
}

// putter returns the driver that writes at a URL.
func putter(path string) (Putter, *url.URL, error) {
	d, u, err := parse(path)
	if err != nil {
		return nil, nil, err
	}
	p, ok := d.(Putter)
	if !ok {
		return nil, nil, fmt.Errorf("%s: cannot write over %s; write to s3:// (larder-cloud: also gs:// and az://), or to a local file and upload it", Name(path), u.Scheme)
	}
	return p, u, nil
}

// Stat returns the version at a URL, nil if there is no file.
func Stat(ctx context.Context, path string) (was *Version, err error) {
	f, err := Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return was, nil
	}
	if err == nil {
		was = &f.Version
	}
	return was, err
}

// Put writes a file atomically, if the URL still has the version that [Stat] found. If
// another writer has changed or removed it since, the error wraps [ErrChanged], and the
// existing file stays. Large files go in parts. After a failure no part is left, unless the
// service becomes unreachable or the process is killed.
func Put(ctx context.Context, path string, c Content, was *Version) error {
	if err := CheckPut(path); err != nil {
		return err
	}
	p, u, err := putter(path)
	if err != nil {
		return err
	}
	w := &putting{Content: c, to: p, url: u, was: was}
	if parts, ok := p.(PartPutter); ok && c.Size > maxAtOnce {
		err = w.inParts(ctx, parts)
	} else {
		err = w.surely(ctx, func(ctx context.Context) error {
			return w.sending(ctx, 0, c.Size, func(ctx context.Context, body io.ReadSeeker) error { return p.Put(ctx, u, body, c, was) })
		})
	}
	return named(Name(path), clashed(err))
}

// Delete removes the file at a URL if it is still the version that [Stat] found. Otherwise
// the error wraps [ErrChanged], and the existing file stays. A missing file is not an
// error.
func Delete(ctx context.Context, path string, was Version) error {
	p, u, err := putter(path)
	if err != nil {
		return err
	}
	lost := false
	err = again(ctx, func(ctx context.Context) error {
		TrafficOf(ctx).add(1, 0)
		err := guarded(ctx, func(ctx context.Context) error { return p.Delete(ctx, u, was) })
		if lost && errors.Is(err, ErrChanged) { // it may be gone
			if _, lerr := retryStat(ctx, p, u); lerr != nil {
				return lerr
			}
		}
		lost = lost || mayPass(err)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return named(Name(path), clashed(err))
}

// clashed explains ErrChanged to a writer.
func clashed(err error) error {
	if errors.Is(err, ErrChanged) {
		return fmt.Errorf("another writer changed or removed the file; its version was left in place; use one writer for each path (%w)", err)
	}
	return err
}

// Sizes of parts.
const (
	maxAtOnce = 64 << 20 // bytes in one request, if parts are possible
	partBytes = 16 << 20 // at least, except the last
	maxParts  = 10_000   // the limit of S3
	atOnce    = 4        // parts sent concurrently
)

// A putting is a file that is being written.
type putting struct {
	Content
	to  Putter
	url *url.URL
	was *Version
}

// surely runs do, which makes the file appear. If an answer was lost and later tries find a
// file there, it may be this very file, so surely checks.
func (w *putting) surely(ctx context.Context, do func(ctx context.Context) error) error {
	lost := false
	err := again(ctx, func(ctx context.Context) error {
		TrafficOf(ctx).add(1, 0)
		err := do(ctx)
		lost = lost || mayPass(err)
		return err
	})
	if err == nil || !lost || ctx.Err() != nil {
		return err
	}
	find := retryStat
	if _, down := errors.AsType[*triedError](err); down {
		find = stat
	}
	if now, lerr := find(ctx, w.to, w.url); lerr == nil && now.IsOf(w.Content) {
		return nil
	}
	return err
}

// inParts writes the file in parts.
func (w *putting) inParts(ctx context.Context, to PartPutter) error {
	var parts Parts
	err := again(ctx, func(ctx context.Context) error {
		TrafficOf(ctx).add(1, 0)
		return guarded(ctx, func(ctx context.Context) (err error) {
			parts, err = to.Begin(ctx, w.url, w.Content)
			return err
		})
	})
	if err != nil {
		return err
	}
	n, err := w.send(ctx, parts)
	if err == nil {
		err = w.surely(ctx, func(ctx context.Context) error {
			return within(ctx, endTime, func(ctx context.Context) error { return parts.End(ctx, n, w.was) })
		})
	}
	if err != nil {
		w.abort(ctx, parts)
	}
	return err
}

// send sends all parts, and returns their number.
func (w *putting) send(ctx context.Context, parts Parts) (n int, err error) {
	size := max(partBytes, (w.Size+maxParts-1)/maxParts)
	g, during := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for at := int64(0); at < w.Size && during.Err() == nil; at += size {
		n++
		of, length := n, min(size, w.Size-at)
		g.Go(func() error {
			return again(during, func(ctx context.Context) error {
				TrafficOf(ctx).add(1, 0)
				return w.sending(ctx, at, length, func(ctx context.Context, body io.ReadSeeker) error { return parts.Put(ctx, of, body, length) })
			})
		})
	}
	if err = g.Wait(); err == nil {
		err = context.Cause(ctx)
	}
	return n, err
}

// abort removes the parts of an unfinished file, even after ctx has ended. It leaves parts
// that it cannot remove to the service.
func (w *putting) abort(ctx context.Context, parts Parts) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stallTime)
	defer cancel()
	_ = again(ctx, func(ctx context.Context) error {
		TrafficOf(ctx).add(1, 0)
		return parts.Abort(ctx)
	})
}

// retryStat returns the version of a file, with retries.
func retryStat(ctx context.Context, d Driver, u *url.URL) (v *Version, err error) {
	err = again(ctx, func(ctx context.Context) (err error) {
		v, err = stat(ctx, d, u)
		return err
	})
	return v, err
}

// stat returns the version of a file, in one try.
func stat(ctx context.Context, d Driver, u *url.URL) (v *Version, err error) {
	v = &Version{}
	TrafficOf(ctx).add(1, 0)
	err = guarded(ctx, func(ctx context.Context) (err error) {
		*v, err = d.Stat(ctx, u)
		return err
	})
	return v, err
}
