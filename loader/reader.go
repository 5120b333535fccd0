package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/larder-data/larder/pool"
)

// ReadOptions say which batches a reader has.
type ReadOptions struct {
	// Rank of Ranks: 0 of 1 where Ranks is 0.
	Rank, Ranks int
	// Share of Shares: where several readers share the batches of a rank, this one has
	// every one of number Share + k*Shares of them, from where it begins. It then reads
	// one epoch. Shares of 0 stands for 1.
	Share, Shares int
	// From is where to begin; nil is the start of the first epoch.
	From *State
	// Epochs is how many epochs to read, that of From one of them; 0 is one after another
	// without end. Batches of the next epoch are made ahead as those of this one are.
	Epochs int
	// Ahead is how many batches are being made or ready at most, beside those that were
	// handed out; 0 stands for 16.
	Ahead int
	// AheadBytes bounds the memory of these; 0 stands for 256 MiB. The batch that comes
	// next is made however large it is.
	AheadBytes int64
	// Budget bounds them together with those of other readers, until the reader is closed;
	// nil does not.
	Budget *Budget
	// Rooms is where the memory of batches comes from; nil is memory of Go.
	Rooms Rooms
}

const (
	defaultAhead      = 16
	defaultAheadBytes = 256 << 20
)

// ErrTooManySkipped is the error of a reader that had to pass over more samples of an
// epoch than it may.
var ErrTooManySkipped = errors.New("loader: too many samples were skipped")

// A Reader hands out the batches of one rank, in their order. Its methods are called by
// one goroutine at a time, but for Close, which any may call.
type Reader struct {
	loader  *Loader
	options ReadOptions
	ctx     context.Context
	cancel  context.CancelCauseFunc
	work    sync.WaitGroup
	ahead   *ahead
	left    sync.Once    // the budget
	coming  chan *coming // in order

	mu      sync.Mutex
	pending *coming // taken of those that come, and not waited for to the end

	state   State
	skipped int // of this epoch
	err     error
}

// coming is a batch that is being made, or the end of an epoch.
type coming struct {
	made  chan struct{} // closed when batch or err is there
	batch *Batch
	err   error
	after State
	ends  bool // the epoch, with no batch
}

// Read returns a reader, which makes batches ahead until it is closed or ctx ends. A
// state of another plan is a [StateError].
func (l *Loader) Read(ctx context.Context, o ReadOptions) (*Reader, error) {
	if o.Ranks == 0 {
		o.Ranks = 1
	}
	if o.Ranks < 1 || o.Rank < 0 || o.Rank >= o.Ranks {
		return nil, fmt.Errorf("loader: there is no rank %d of %d", o.Rank, o.Ranks)
	}
	if o.Shares == 0 {
		o.Shares = 1
	}
	if o.Shares < 1 || o.Share < 0 || o.Share >= o.Shares {
		return nil, fmt.Errorf("loader: there is no share %d of %d", o.Share, o.Shares)
	}
	if o.Shares > 1 && o.Epochs != 1 {
		return nil, errors.New("loader: whoever shares the batches of a rank reads one epoch at a time")
	}
	if o.Ahead < 0 || o.AheadBytes < 0 || o.Epochs < 0 {
		return nil, errors.New("loader: a number of epochs, or of batches or bytes ahead, is below 0")
	}
	r := &Reader{loader: l, options: o, state: l.plan.Start()}
	if o.From != nil {
		r.state = *o.From
		if err := l.plan.Check(r.state); err != nil {
			return nil, fmt.Errorf("loader: %w", err)
		}
	}
	if r.options.Ahead == 0 {
		r.options.Ahead = defaultAhead
	}
	if r.options.AheadBytes == 0 {
		r.options.AheadBytes = defaultAheadBytes
	}
	if r.options.Rooms == nil {
		r.options.Rooms = l.Rooms()
	}
	r.ctx, r.cancel = context.WithCancelCause(l.pool.Context(ctx))
	r.ahead = newAhead(r.ctx, r.options.Ahead, func() int64 { return o.Budget.Share(r.options.AheadBytes) })
	o.Budget.join(1)
	r.coming = make(chan *coming, r.options.Ahead+1)
	r.work.Go(r.begin)
	return r, nil
}

// ErrClosed is the error of a reader that was closed.
var ErrClosed = errors.New("loader: the reader is closed")

// Close ends what is being made, and waits for that. Batches that were handed out stay
// until they are released.
func (r *Reader) Close() {
	r.cancel(ErrClosed)
	r.work.Wait()
	r.left.Do(func() { r.options.Budget.join(-1) })
	for c := range r.coming {
		c.release()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending != nil {
		r.pending.release()
		r.pending = nil
	}
}

func (c *coming) release() {
	if c.batch != nil {
		c.batch.Release()
	}
}

// begin begins one batch after another.
func (r *Reader) begin() {
	defer close(r.coming)
	send := func(c *coming) bool {
		select {
		case r.coming <- c:
			return true
		case <-r.ctx.Done():
			return false
		}
	}
	fail := func(err error) { send(&coming{err: err, made: closed}) }
	k := 0
	state := r.state
	for n := 0; r.options.Epochs == 0 || n < r.options.Epochs; n++ {
		turns, err := r.loader.plan.turns(state, r.options.Rank, r.options.Ranks)
		if err != nil {
			fail(fmt.Errorf("loader: %w", err))
			return
		}
		if state.Position == 0 && turns.batches < r.options.Ranks && r.loader.plan.Round == DropRound {
			fail(fmt.Errorf("loader: epoch %d has %d batches for %d ranks, and a last round of fewer is dropped; take smaller batches, or pad the round", state.Epoch, turns.batches, r.options.Ranks))
			return
		}
		edition, err := r.loader.edition(r.ctx, state.Epoch)
		if err != nil {
			fail(err)
			return
		}
		if r.options.Rank == 0 {
			r.loader.foretell(state, edition)
		}
		for {
			if r.ahead.begin(r.ctx) != nil {
				return
			}
			turn, ok := turns.share(r.options.Share, r.options.Shares)
			if !ok {
				break
			}
			c := &coming{made: make(chan struct{}), after: turn.After}
			number := k
			k++
			r.work.Go(func() { r.make(c, number, edition, turn.Content) })
			if !send(c) {
				return
			}
			if number == 0 && len(turn.Samples) >= r.loader.pool.Workers() {
				r.first(c)
			}
		}
		state = r.loader.plan.StartOf(state.Epoch + 1)
		r.ahead.passed(r.ctx, k) // the end takes the place of a batch
		k++
		if !send(&coming{ends: true, after: state, made: closed}) {
			return
		}
	}
}

// first waits for the first batch, which has samples for all workers: what was begun
// beside it would take their time, and whoever reads waits for this one.
func (r *Reader) first(c *coming) {
	select {
	case <-c.made:
	case <-r.ctx.Done():
	}
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// make makes a batch.
func (r *Reader) make(c *coming, number int, e edition, content Content) {
	defer close(c.made)
	defer r.ahead.passed(r.ctx, number)
	c.err = errGone
	c.batch, c.err = r.batch(number, e, content)
}

func (r *Reader) batch(number int, e edition, content Content) (b *Batch, err error) {
	ctx, end := pool.Hold(r.ctx)
	defer end()
	j := r.loader.job(e, content)
	defer j.end()
	ctx = r.loader.stages.measure(ctx, len(content.Samples))
	if err := j.read(ctx); err != nil {
		return nil, r.failed(content, err)
	}
	var data []byte
	waited := pool.Wait(ctx)
	err = r.ahead.take(ctx, number, j.bytes, func() (err error) {
		data, err = r.options.Rooms.Take(ctx, j.bytes)
		return err
	})
	waited()
	if err != nil {
		return nil, err
	}
	if b, err = j.write(ctx, data); err != nil {
		r.options.Rooms.Give(data)
		return nil, r.failed(content, err)
	}
	b.rooms = r.options.Rooms
	return b, nil
}

// failed says where in the order something went wrong.
func (r *Reader) failed(c Content, err error) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return fmt.Errorf("loader: epoch %d, batch from position %d: %w", c.Epoch, c.From, err)
}

// Next returns the next batch, or [io.EOF] at the end of an epoch, after which it goes on
// with the next one; at the end of the last, again and again. Any other error is final:
// what comes next is in [Reader.State], from where another reader may try again.
func (r *Reader) Next(ctx context.Context) (*Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	if err := context.Cause(r.ctx); err != nil {
		r.err = err
		return nil, err
	}
	c, err := r.await(ctx)
	if err != nil {
		return nil, err
	}
	return r.take(c)
}

// await waits for what comes next. Who leaves before finds it again.
func (r *Reader) await(ctx context.Context) (*coming, error) {
	r.mu.Lock()
	c := r.pending
	r.mu.Unlock()
	if c == nil {
		select {
		case next, ok := <-r.coming:
			if !ok {
				return nil, r.ended()
			}
			c = next
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	var err error
	select {
	case <-c.made:
		c, err = r.keep(nil, c)
	case <-ctx.Done():
		_, err = r.keep(c, c)
		if err == nil {
			err = context.Cause(ctx)
		}
	}
	return c, err
}

// keep notes what is pending. If the reader was closed meanwhile, nobody else gives
// back what came.
func (r *Reader) keep(pending, c *coming) (*coming, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(context.Cause(r.ctx), ErrClosed) {
		r.pending = nil
		<-c.made // all have ended, or are about to
		c.release()
		return nil, r.ended()
	}
	r.pending = pending
	return c, nil
}

// ended is what comes after the last.
func (r *Reader) ended() error {
	if r.err = context.Cause(r.ctx); r.err == nil {
		r.err = io.EOF
	}
	return r.err
}

func (r *Reader) take(c *coming) (*Batch, error) {
	r.ahead.hand()
	if c.err != nil {
		return nil, r.fail(c.err)
	}
	if c.ends {
		r.state, r.skipped = c.after, 0
		return nil, io.EOF
	}
	if err := r.report(c.batch); err != nil {
		c.batch.Release()
		return nil, r.fail(err)
	}
	r.state = c.after
	return c.batch, nil
}

// fail ends all that is being made.
func (r *Reader) fail(err error) error {
	if errors.Is(err, io.EOF) {
		err = noEnd{err}
	}
	r.err = err
	r.cancel(err)
	return err
}

// noEnd is an error that came of the end of a file, which nobody is to take for the end of
// an epoch.
type noEnd struct{ err error }

func (e noEnd) Error() string { return e.err.Error() }

// Is reports whether it is another error than [io.EOF].
func (e noEnd) Is(target error) bool { return target != io.EOF && errors.Is(e.err, target) } //nolint:errorlint // the one error

// As is errors.As of what it stands for.
func (e noEnd) As(target any) bool { return errors.As(e.err, target) }

// report tells of the samples that a batch lacks.
func (r *Reader) report(b *Batch) error {
	for _, s := range b.Skipped {
		if r.skipped++; r.skipped > r.loader.options.Skip {
			return fmt.Errorf("%w: %d of epoch %d, and %d are allowed; the last: %w", ErrTooManySkipped, r.skipped, b.Epoch, r.loader.options.Skip, s.Err)
		}
		if r.loader.options.OnSkip != nil {
			r.loader.options.OnSkip(s)
		}
	}
	return nil
}

// BytesAhead is how many bytes the batches take that were made, or are being made, and were not handed
// out.
func (r *Reader) BytesAhead() int64 { return r.ahead.bytesAhead() }

// State returns where to go on after the last batch that was handed out, and its round.
func (r *Reader) State() State { return r.state }

// Batches yields what is left of an epoch. Whoever leaves it goes on with what comes
// next.
func (r *Reader) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) && b == nil {
				return
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}
