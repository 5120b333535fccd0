package place

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/larder-data/larder/pool"
)

// A Reader reads a part of a file: see [File.Reader]. It is for one goroutine.
//
// An answer that is late, beside those of the last hundred reads of its host, is asked for a
// second time, for one read in twenty at most, and never of a host that lately had too much to
// do: see [AskOnce].
type Reader struct {
	ctx     context.Context
	of      *File
	at, end int64

	body    Body
	during  context.Context // of the request
	cancel  context.CancelCauseFunc
	stalled *time.Timer    // runs while something is waited for
	asking  sync.WaitGroup // goroutines with requests
	failed  int            // tries since something came
	mark    int64          // where tries were counted anew

	pace   pace  // at which bytes come
	single bool  // what breaks off is not read on: see [File.Copy]
	broke  error // why it did
}

// open opens what is left, or tries for as long as it may help.
func (r *Reader) open() error {
	defer pool.Away(r.ctx, min(r.Left(), 1<<20))() // more is read when it is asked for
	for {
		err := r.try()
		if err == nil {
			return nil
		}
		n := r.failed
		r.failed++
		if err := wait(r.ctx, n, err); err != nil {
			return err
		}
	}
}

// try opens what is left once.
func (r *Reader) try() error {
	ctx, cancel := context.WithCancelCause(r.ctx)
	stalled := time.AfterFunc(stallTime, func() { cancel(errStalled) })
	body, err := r.begin(ctx)
	stalled.Stop()
	if err != nil {
		if errors.Is(context.Cause(ctx), errStalled) {
			err = errStalled
		}
		cancel(nil)
		r.asking.Wait()
		return err
	}
	r.body, r.during, r.cancel, r.stalled = body, ctx, cancel, stalled
	return nil
}

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	for {
		if r.at >= r.end {
			return 0, io.EOF
		}
		if len(b) == 0 {
			return 0, nil
		}
		if r.body == nil {
			if err := r.open(); err != nil {
				return 0, named(r.of.name, err)
			}
		}
		r.stalled.Reset(stallTime)
		began := time.Now()
		n, err := r.body.Read(b[:min(int64(len(b)), r.end-r.at)])
		r.stalled.Stop()
		if n > 0 {
			r.came(n)
			if r.pace.slow(n, time.Since(began)) && r.at < r.end {
				return n, named(r.of.name, r.broken(errSlow))
			}
			return n, nil
		}
		if err == nil {
			continue
		}
		if err := r.broken(err); err != nil {
			return 0, named(r.of.name, err)
		}
	}
}

// came notes that bytes came.
func (r *Reader) came(n int) {
	r.at += int64(n)
	TrafficOf(r.ctx).add(0, int64(n))
	if r.at-r.mark >= progressBytes {
		r.failed, r.mark = 0, r.at
	}
}

// broken closes what broke off, and returns an error if it cannot be read on.
func (r *Reader) broken(err error) error {
	if cause := context.Cause(r.ctx); cause != nil {
		return cause
	}
	if errors.Is(context.Cause(r.during), errStalled) {
		err = errStalled
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if _, ok := errors.AsType[*AgainError](err); !ok {
		err = &AgainError{Err: fmt.Errorf("the connection broke off: %w", err)}
	}
	r.drop()
	if r.single {
		r.broke = err
		return errAnew
	}
	n := r.failed
	r.failed++
	return wait(r.ctx, n, err)
}

// full fills b.
func (r *Reader) full(b []byte) error {
	_, err := io.ReadFull(r, b)
	return err
}

// Left is how many bytes are still to come.
func (r *Reader) Left() int64 { return r.end - r.at }

// Close ends the reading. What little is left is read, so that the connection serves again.
func (r *Reader) Close() error {
	if r.body == nil {
		return nil
	}
	if r.Left() <= drainBytes && r.ctx.Err() == nil {
		r.stalled.Reset(stallTime)
		_, _ = io.CopyN(io.Discard, r.body, r.Left()+1) // the end, too
	}
	r.drop()
	r.at = r.end
	return nil
}

// drainBytes are read sooner than a new connection is made.
const drainBytes = 32 << 10

func (r *Reader) drop() {
	r.stalled.Stop()
	r.cancel(nil)
	_ = r.body.Close()
	r.asking.Wait()
	r.body = nil
}
