package python

import (
	"context"
	"io"
	"time"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/pyfunction"
	"github.com/larder-data/larder/internal/app/python"
	"github.com/larder-data/larder/stream"
)

// Bounds of a piece. Elements are added to it until it has that many or that many bytes,
// or until sliceTime has passed, which the worker measures.
const (
	pieceElements = 256
	pieceBytes    = 1 << 20
	sliceTime     = 10 * time.Millisecond // bound for all elements except the last
)

// lookTime is the interval of checks for elements of an incomplete piece. It is longer
// than writes need to become visible to another process.
const lookTime = 20 * time.Millisecond

// Time limits for closing a generator: before it is interrupted, and after that before
// it is killed.
const (
	quietTime = 100 * time.Millisecond
	closeTime = 5 * time.Second
)

// A feed is one reading of a generator, by its own worker.
type feed struct {
	*generator
	reply   pyfunction.Reply
	environ []string
	session *python.Session
	over    func() // the run may end
	ctx     context.Context
	stop    context.CancelCauseFunc

	taken int
	have  []dataset.Sample // computed, and not taken
	after error            // after these: io.EOF, or the error; nil if there may be more
	next  chan piece       // receives the current piece; nil if there is none
	asked uint64           // number of orders given
	seen  int              // elements of the current piece at the last check
	early int              // how many of those were returned
}

// Next implements stream.Feed.
func (f *feed) Next(ctx context.Context) (s dataset.Sample, err error) {
	for len(f.have) == 0 && f.after == nil {
		if _, err := f.await(ctx, 0); err != nil {
			return s, err
		}
	}
	if len(f.have) == 0 {
		return s, f.after
	}
	s, f.have[0] = f.have[0], s
	f.have = f.have[1:]
	f.taken++
	if f.after == nil && f.next == nil {
		f.ask(0)
	}
	return s, nil
}

// Skip implements stream.Skipper: the worker skips the elements, and sends none.
func (f *feed) Skip(ctx context.Context, n uint64) (passed uint64, err error) {
	if passed, err = f.await(ctx, n); err == nil {
		err = f.after
	}
	return passed, err
}

// await waits for the next piece, and orders it if necessary.
func (f *feed) await(ctx context.Context, skip uint64) (passed uint64, err error) {
	if f.next == nil {
		f.ask(skip)
	}
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for {
		select {
		case p := <-f.next:
			f.next = nil
			f.have, f.after = p.samples[min(f.early, len(p.samples)):], p.err
			return p.passed, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-look.C:
			if skip == 0 && f.look(ctx) {
				return 0, nil
			}
		}
	}
}

// look takes available elements while the next one takes long, and reports whether there
// are any. Elements seen at the previous check are complete.
func (f *feed) look(ctx context.Context) bool {
	var p piece
	f.session.Peek(func(b []byte) {
		if countOf(b) > uint64(f.early) && p.read(b, f.asked, f.reply) != nil {
			p = piece{}
		}
	})
	whole := min(f.seen, len(p.samples))
	f.seen = len(p.samples)
	if whole <= f.early || f.files.Unchanged(ctx, f.env.Files) != nil {
		return false
	}
	f.have, f.early = p.samples[f.early:whole], whole
	return true
}

// ask orders the next piece, or skipping of elements.
func (f *feed) ask(skip uint64) {
	f.asked++
	f.seen, f.early = 0, 0
	o := order{number: f.asked, skip: skip, bytes: pieceBytes, most: uint64(f.reply.Most)}
	if skip == 0 {
		o.elements = uint64(min(max(f.taken/4, 1), pieceElements))
	}
	next := make(chan piece, 1)
	f.next = next
	go func() { next <- f.make(o) }()
}

// make runs an order in the worker.
func (f *feed) make(o order) (p piece) {
	t := &python.Task{
		Bytes: orderBytes, Fill: o.fill, Environ: f.environ,
		Most:   headBytes + pieceBytes + int64(f.reply.Most) + pyfunction.ErrorBytes,
		Answer: func(b []byte) error { return p.read(b, o.number, f.reply) },
		Left: func(b []byte) {
			if p.read(b, o.number, f.reply) != nil {
				p = piece{} // it had not begun
			}
		},
	}
	if f.limit > 0 {
		t.Limit = f.limit + sliceTime
	}
	if err := f.session.Do(f.ctx, t); err != nil && (p.err == nil || p.err == io.EOF) { //nolint:errorlint // see piece
		p.err = f.fail.Why(err)
	}
	if err := f.files.Unchanged(f.ctx, f.env.Files); err != nil && f.ctx.Err() == nil {
		p = piece{err: err}
	}
	return p
}

// Close closes the generator, and ends the worker.
func (f *feed) Close() error {
	defer f.over()
	if f.next != nil && !f.isMade(quietTime) {
		f.session.Interrupt()
		if !f.isMade(closeTime) {
			f.stop(stream.ErrClosed) // which ends the worker
			f.isMade(closeTime)
		}
	}
	if f.asked > 0 {
		f.leave()
	}
	f.stop(stream.ErrClosed)
	f.session.Close()
	return nil
}

// leave orders the worker to close the generator.
func (f *feed) leave() {
	ctx, cancel := context.WithTimeout(f.ctx, closeTime)
	defer cancel()
	o := order{number: f.asked + 1, close: 1}
	t := &python.Task{Bytes: orderBytes, Fill: o.fill, Environ: f.environ, Most: headBytes, Answer: func([]byte) error { return nil }}
	if err := f.session.Do(ctx, t); err != nil && f.after == nil && f.ctx.Err() == nil && f.env.Log != nil {
		f.env.Log.Warn("closing the generator failed", "node", f.env.Node, "error", f.fail.Why(err))
	}
}

// isMade waits for the current piece, and reports whether it is complete.
func (f *feed) isMade(within time.Duration) bool {
	select {
	case p := <-f.next:
		f.next = nil
		f.after = p.err
		return true
	case <-time.After(within):
		return false
	}
}
