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

// ReadOptions say which batches a reader returns.
type ReadOptions struct {
	// Rank and WorldSize say that this is rank Rank of WorldSize; a WorldSize of 0 means rank
	// 0 of 1.
	Rank, WorldSize int
	// Share and Shares divide the batches of a rank between several readers.
	// This one has the batches Share + k*Shares, counted from its start, and
	// reads one epoch. Shares of 0 means 1.
	Share, Shares int
	// From is the start; nil means the start of the first epoch.
	From *State
	// Epochs is the number of epochs to read, including that of From; 0 means
	// without end. Prefetching continues into the next epoch.
	Epochs int
	// Ahead bounds the number of batches in preparation or ready, besides those
	// that were returned; 0 means 16.
	Ahead int
	// AheadBytes bounds their memory; 0 means 256 MiB. The next batch is always
	// prepared, whatever its size.
	AheadBytes int64
	// Budget, if not nil, bounds them together with those of other readers,
	// until the reader is closed.
	Budget *Budget
	// Allocator allocates the memory of batches; nil means memory of Go.
	Allocator Allocator
}

const (
	defaultAhead      = 16
	defaultAheadBytes = 256 << 20
)

// ErrTooManySkipped is the error of a reader that would skip more samples of an
// epoch than allowed.
var ErrTooManySkipped = errors.New("loader: too many samples were skipped")

// A Reader returns the batches of one rank in order. Its methods must not be
// called concurrently, except Close.
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
	pending *coming // received from coming, but not yet complete

	state   State
	skipped int // in this epoch
	err     error
}

// coming is a batch in preparation, or the end of an epoch.
type coming struct {
	made  chan struct{} // closed when batch or err is set
	batch *Batch
	err   error
	after State
	ends  bool // the epoch, without a batch
}

// Read returns a reader, which prefetches batches until it is closed or ctx
// ends. A state of another plan is a [StateError].
func (l *Loader) Read(ctx context.Context, o ReadOptions) (*Reader, error) {
	if o.WorldSize == 0 {
		o.WorldSize = 1
	}
	if o.WorldSize < 1 || o.Rank < 0 || o.Rank >= o.WorldSize {
		return nil, fmt.Errorf("loader: rank is %d of %d; give 0 to ranks - 1", o.Rank, o.WorldSize)
	}
	if o.Shares == 0 {
		o.Shares = 1
	}
	if o.Shares < 1 || o.Share < 0 || o.Share >= o.Shares {
		return nil, fmt.Errorf("loader: there is no share %d of %d", o.Share, o.Shares)
	}
	if o.Shares > 1 && o.Epochs != 1 {
		return nil, errors.New("loader: Shares > 1 requires Epochs = 1")
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
	if r.options.Allocator == nil {
		r.options.Allocator = l.Allocator()
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

// Close ends the batches in preparation, and waits for them. Batches that were
// returned stay valid until they are released.
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

// begin starts one batch after another.
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
		batches, err := r.loader.plan.rankBatches(state, r.options.Rank, r.options.WorldSize)
		if err != nil {
			fail(fmt.Errorf("loader: %w", err))
			return
		}
		if state.Position == 0 && batches.batches < r.options.WorldSize && r.loader.plan.LastStep == DropLastStep {
			fail(fmt.Errorf("loader: epoch %d: %d batches for %d ranks, and a last step of fewer is dropped; take smaller batches, or pad the last step", state.Epoch, batches.batches, r.options.WorldSize))
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
			batch, ok := batches.share(r.options.Share, r.options.Shares)
			if !ok {
				break
			}
			c := &coming{made: make(chan struct{}), after: batch.After}
			number := k
			k++
			r.work.Go(func() { r.make(c, number, edition, batch.Content) })
			if !send(c) {
				return
			}
			if number == 0 && len(batch.Samples) >= r.loader.pool.Workers() {
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

// first waits for the first batch, which has samples for all workers. Other
// batches would take their time, while the consumer waits for this one.
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

func (r *Reader) make(c *coming, number int, e edition, content Content) {
	defer close(c.made)
	defer r.ahead.passed(r.ctx, number)
	c.err = errGone
	c.batch, c.err = r.batch(number, e, content)
}

func (r *Reader) batch(number int, e edition, content Content) (b *Batch, err error) {
	ctx, end := pool.Reservation(r.ctx)
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
		data, err = r.options.Allocator.Allocate(ctx, j.bytes)
		return err
	})
	waited()
	if err != nil {
		return nil, err
	}
	if b, err = j.write(ctx, data); err != nil {
		r.options.Allocator.Free(data)
		return nil, r.failed(content, err)
	}
	b.allocator = r.options.Allocator
	return b, nil
}

// failed adds the position in the order to an error.
func (r *Reader) failed(c Content, err error) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return fmt.Errorf("loader: epoch %d, batch from position %d: %w", c.Epoch, c.From, err)
}

// Next returns the next batch, or [io.EOF] at the end of an epoch. After that
// it continues with the next epoch; after the last it returns [io.EOF] again.
// Any other error is final: [Reader.State] is the position of the next batch,
// where another reader may try again.
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

// await waits for what comes next. If ctx ends before, the next call continues.
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

// keep records what is pending. If the reader was closed in between, keep
// releases the batch.
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

// ended returns the error after the last batch.
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

// fail ends all batches in preparation.
func (r *Reader) fail(err error) error {
	if errors.Is(err, io.EOF) {
		err = noEnd{err}
	}
	r.err = err
	r.cancel(err)
	return err
}

// noEnd wraps an error caused by the end of a file, so that it is not treated
// as the end of an epoch.
type noEnd struct{ err error }

func (e noEnd) Error() string { return e.err.Error() }

// Is reports whether it matches an error other than [io.EOF].
func (e noEnd) Is(target error) bool { return target != io.EOF && errors.Is(e.err, target) } //nolint:errorlint // the one error

// As is errors.As of the wrapped error.
func (e noEnd) As(target any) bool { return errors.As(e.err, target) }

// report reports the skipped samples of a batch.
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

// BytesAhead returns the bytes of batches that are ready or in preparation, and
// not returned yet.
func (r *Reader) BytesAhead() int64 { return r.ahead.bytesAhead() }

// State returns the state after the last returned batch and its round.
func (r *Reader) State() State { return r.state }

// Batches yields the remaining batches of an epoch. A later call continues
// where the loop ended.
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
