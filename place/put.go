package place

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"

	"golang.org/x/sync/errgroup"
)

// A Putter is a [Driver] that writes files, too. It tries everything once, as every driver does.
// What it writes appears complete or not at all, and only where there is still the version was,
// nil for nothing: else the error wraps [ErrChanged], and what is there stays.
type Putter interface {
	Driver
	// CheckPut refuses a URL at which no file can be, asking nobody.
	CheckPut(u *url.URL) error
	// Put writes a file by one request. body is c.Body, from its beginning. The service is to
	// check what comes, and to note c.Sum, which is [Version.Sum] from then on.
	Put(ctx context.Context, u *url.URL, body io.ReadSeeker, c Content, was *Version) error
	// Delete removes a file that is still a version. One that is not there is an error that wraps
	// fs.ErrNotExist.
	Delete(ctx context.Context, u *url.URL, was Version) error
}

// A PartPutter is a [Putter] that writes large files in parts, which are tried again each by
// itself. Files of others go by one request, however large.
type PartPutter interface {
	Putter
	// Begin begins a file of parts.
	Begin(ctx context.Context, u *url.URL, c Content) (Parts, error)
}

// Parts are those of a file that is being written. Nobody sees them before the file is there.
type Parts interface {
	// Put sends part n, from 1 on, in place of one that was sent as such. It may be called by
	// many goroutines.
	Put(ctx context.Context, n int, body io.ReadSeeker, size int64) error
	// End has the file appear, of n parts, under the condition of [Putter].
	End(ctx context.Context, n int, was *Version) error
	// Abort removes the parts.
	Abort(ctx context.Context) error
}

// A Content is what is to be written: the first Size bytes of Body, which is read several times,
// by many goroutines.
type Content struct {
	Body io.ReaderAt
	Size int64
	Sum  string // its SHA-256, 64 hexadecimal digits in small letters
}

// IsOf reports whether a version is known to have a content: it was noted when it was written.
// Of nil, which is no version, it is false.
func (v *Version) IsOf(c Content) bool {
	return v != nil && v.Sum != "" && v.Sum == c.Sum && v.Size == c.Size
}

// CheckPut refuses what no file can be written at. It asks nobody.
func CheckPut(path string) error {
	p, u, err := putter(path)
	if err != nil {
		return err
	}
	return named(Name(path), p.CheckPut(u))
}

// putter returns who writes at a URL.
func putter(path string) (Putter, *url.URL, error) {
	d, u, err := parse(path)
	if err != nil {
		return nil, nil, err
	}
	p, ok := d.(Putter)
	if !ok {
		return nil, nil, fmt.Errorf("%s: nothing is written over %s; write to s3:// (larder-cloud: also gs:// and az://), or to a file of this machine, and send that with a tool", Name(path), u.Scheme)
	}
	return p, u, nil
}

// Look returns what is at a URL, nil if nothing is.
func Look(ctx context.Context, path string) (was *Version, err error) {
	f, err := Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return was, nil
	}
	if err == nil {
		was = &f.Version
	}
	return was, err
}

// Put writes a file, which appears complete or not at all, where there is still what [Look]
// found. If somebody else has written or removed it since, the error wraps [ErrChanged], and
// what is there stays. Large files go in parts, of which none is left if the file does not come
// to be, but where the service cannot be reached any more, or the process is killed.
func Put(ctx context.Context, path string, c Content, was *Version) error {
	if err := CheckPut(path); err != nil {
		return err
	}
	p, u, err := putter(path)
	if err != nil {
		return err
	}
	w := &putting{Content: c, to: p, url: u, was: was}
	if parts, ok := p.(PartPutter); ok && c.Size > mostAtOnce {
		err = w.inParts(ctx, parts)
	} else {
		err = w.surely(ctx, func(ctx context.Context) error {
			return w.sending(ctx, 0, c.Size, func(ctx context.Context, body io.ReadSeeker) error { return p.Put(ctx, u, body, c, was) })
		})
	}
	return named(Name(path), clashed(err))
}

// Delete removes the file at a URL, if it is still a version that [Look] found: else the error
// wraps [ErrChanged], and what is there stays. That it is gone is no error.
func Delete(ctx context.Context, path string, was Version) error {
	p, u, err := putter(path)
	if err != nil {
		return err
	}
	lost := false
	err = again(ctx, func(ctx context.Context) error {
		TrafficOf(ctx).add(1, 0)
		err := guarded(ctx, func(ctx context.Context) error { return p.Delete(ctx, u, was) })
		if lost && errors.Is(err, ErrChanged) { // as it may be gone
			if _, lerr := look(ctx, p, u); lerr != nil {
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

// clashed says of what changed what that means for who writes it.
func clashed(err error) error {
	if errors.Is(err, ErrChanged) {
		return fmt.Errorf("somebody else wrote or removed it meanwhile, and it was left as it is now; see that nobody else writes there (%w)", err)
	}
	return err
}

// How files are divided into parts.
const (
	mostAtOnce = 64 << 20 // bytes go by one request, where they could go in parts
	partBytes  = 16 << 20 // at least, but of the last
	mostParts  = 10_000   // as S3 has it
	atOnce     = 4        // parts are sent
)

// A putting is a file that is being written.
type putting struct {
	Content
	to  Putter
	url *url.URL
	was *Version
}

// surely does what has the file appear. Where the answer to a try was lost, and no other one
// succeeds, as something is there now, what is there may be this very file.
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
	find := look
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

// send sends all parts, and returns how many they are.
func (w *putting) send(ctx context.Context, parts Parts) (n int, err error) {
	size := max(partBytes, (w.Size+mostParts-1)/mostParts)
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

// abort removes the parts of a file that does not come to be, also for who has given up. What
// cannot be removed is left to the service.
func (w *putting) abort(ctx context.Context, parts Parts) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stallTime)
	defer cancel()
	_ = again(ctx, func(ctx context.Context) error {
		TrafficOf(ctx).add(1, 0)
		return parts.Abort(ctx)
	})
}

// look looks at a file.
func look(ctx context.Context, d Driver, u *url.URL) (v *Version, err error) {
	err = again(ctx, func(ctx context.Context) (err error) {
		v, err = stat(ctx, d, u)
		return err
	})
	return v, err
}

// stat looks at a file once.
func stat(ctx context.Context, d Driver, u *url.URL) (v *Version, err error) {
	v = &Version{}
	TrafficOf(ctx).add(1, 0)
	err = guarded(ctx, func(ctx context.Context) (err error) {
		*v, err = d.Stat(ctx, u)
		return err
	})
	return v, err
}
