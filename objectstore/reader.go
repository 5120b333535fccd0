package objectstore

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
// It hedges: if an answer is late compared with the last hundred reads of its host, it
// sends a second request. It does so for at most one read in twenty, and not if the host
// was recently overloaded: see [AskOnce].
type Reader struct {
	ctx     context.Context
	of      *File
	at, end int64

	body    Body
	during  context.Context // of the request
	cancel  context.CancelCauseFunc
	stalled *time.Timer    // runs while waiting for bytes
	asking  sync.WaitGroup // goroutines with requests
	failed  int            // tries since the last progress
	mark    int64          // offset of the last progress

	pace   pace  // rate of the bytes
	single bool  // a broken connection is not resumed: see [File.Copy]
	broke  error // why it broke
}

// open opens the rest, and retries while that may help.
func (r *Reader) open() error {
	defer pool.Blocking(r.ctx, min(r.Left(), 1<<20))() // more is read on demand
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

// try opens the rest once.
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

// came records that bytes arrived.
func (r *Reader) came(n int) {
	r.at += int64(n)
	TrafficOf(r.ctx).add(0, int64(n))
	if r.at-r.mark >= progressBytes {
		r.failed, r.mark = 0, r.at
	}
}

// broken closes a broken connection, and returns an error if reading cannot resume.
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
	if _, ok := errors.AsType[*RetryableError](err); !ok {
		err = &RetryableError{Err: fmt.Errorf("the connection was interrupted: %w", err)}
	}
	r.drop()
	if r.single {
		r.broke = err
		return errAgain
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

// Left returns the number of bytes still to come.
func (r *Reader) Left() int64 { return r.end - r.at }

// Close ends the reading. It reads a short rest, so that the connection can be reused.
func (r *Reader) Close() error {
	if r.body == nil {
		return nil
	}
	if r.Left() <= drainBytes && r.ctx.Err() == nil {
		r.stalled.Reset(stallTime)
		_, _ = io.CopyN(io.Discard, r.body, r.Left()+1) // including the end
	}
	r.drop()
	r.at = r.end
	return nil
}

// drainBytes is the largest rest that is cheaper to read than a new connection.
const drainBytes = 32 << 10

func (r *Reader) drop() {
	r.stalled.Stop()
	r.cancel(nil)
	_ = r.body.Close()
	r.asking.Wait()
	r.body = nil
}
