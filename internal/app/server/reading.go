package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/loader"
)

const (
	defaultWindow = 16
	maxWindow     = 4096
	defaultRing   = 64 << 20
)

// A reading sends the batches of a rank to a client through a ring.
type reading struct {
	conn     *conn
	pipeline *pipeline
	request  startRequest
	ring     *ring
	reader   *loader.Reader // nil if the client only gets samples
	layouts  layouts
	from     loader.State
	batches  int // of the epoch where it begins
	window   int
	began    time.Time

	ctx    context.Context
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	space    chan struct{} // has one element for each batch in the client's window
	reported atomic.Bool   // the client knows that it ended
	meter    meter
}

// A meter has the counters of a reader.
type meter struct {
	batches, samples, bytes, skipped atomic.Int64
	forBatches, forClient            atomic.Int64 // nanoseconds waited: for batches, and for the client to release them
	epoch                            atomic.Uint64
}

// count counts a batch.
func (m *meter) count(b *loader.Batch) {
	m.batches.Add(1)
	m.samples.Add(int64(len(b.Samples) - b.Padding))
	m.bytes.Add(int64(len(b.Data)))
	m.skipped.Add(int64(len(b.Skipped)))
}

// newReading starts a reading.
func (c *conn) newReading(o *startRequest) (*reading, error) {
	p := c.pipeline
	r := &reading{conn: c, pipeline: p, request: *o, window: defaultWindow, began: time.Now()}
	r.request.fill()
	if o.Window != nil {
		r.window = *o.Window
	}
	switch {
	case r.window < 0 || r.window > maxWindow:
		return nil, requestError{fmt.Errorf("start: a window of %d batches; it can have 1 to %d", r.window, maxWindow)}
	case o.Ring < 0:
		return nil, requestError{errors.New("start: the ring has less than 0 bytes")}
	}
	most := o.Ring
	if most == 0 {
		most = defaultRing
	}
	var err error
	if r.from, err = o.from(p.loader.Plan()); err != nil {
		return nil, err
	}
	if r.ring, err = c.ringOf(most); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancelCause(c.ctx)
	if r.window > 0 {
		err = r.begin(most)
	}
	if err != nil {
		r.cancel(err)
		return nil, err
	}
	return r, nil
}

// ringOf returns the ring of the last reader, if it still exists, or a new one.
func (c *conn) ringOf(most int64) (r *ring, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ring == nil {
		if c.ring, err = newRing(); err != nil {
			return nil, err
		}
	}
	c.ring.bound(func() int64 { return c.server.ahead.Share(most) })
	return c.ring, nil
}

// fill sets defaults: one rank, and one share of its batches.
func (o *startRequest) fill() {
	if o.WorldSize == 0 {
		o.WorldSize = 1
	}
	if o.Shares == 0 {
		o.Shares = 1
	}
}

// from returns the state at which a reader begins.
func (o *startRequest) from(plan *loader.Plan) (loader.State, error) {
	switch {
	case o.From != nil && o.Epoch != nil:
		return loader.State{}, requestError{errors.New("start: give it a state or an epoch, and not both")}
	case o.Epoch != nil:
		return plan.StartOf(*o.Epoch), nil
	case o.From != nil:
		return *o.From, plan.Check(*o.From)
	}
	return plan.Start(), nil
}

func (r *reading) begin(most int64) (err error) {
	o := r.request
	r.space = make(chan struct{}, r.window)
	ahead := max(2, min(r.window, 8))
	r.reader, err = r.pipeline.loader.Read(r.ctx, loader.ReadOptions{
		Rank: o.Rank, WorldSize: o.WorldSize, Share: o.Share, Shares: o.Shares, From: &r.from, Epochs: o.Epochs,
		Ahead: ahead, AheadBytes: most, Budget: r.conn.server.ahead, Allocator: r.ring,
	})
	if err != nil {
		return requestError{err}
	}
	n, err := r.pipeline.loader.Plan().Batches(r.from, o.Rank, o.WorldSize)
	r.batches = (n - o.Share + o.Shares - 1) / o.Shares
	if err != nil {
		r.reader.Close()
	}
	return err
}

// prefixOf returns the text of a state up to the epoch.
func prefixOf(s loader.State) string {
	text := s.String()
	for range 2 {
		text = text[:strings.LastIndexByte(text, '.')]
	}
	return text
}

// run sends batches until the reader ends.
func (r *reading) run() {
	r.work.Go(func() {
		err := r.handOut()
		if r.ctx.Err() == nil { // otherwise the caller of stop reports it
			r.reportEnd(err)
		}
	})
}

// reportEnd reports to the client once that the reader has ended, with its error if any.
func (r *reading) reportEnd(err error) {
	switch {
	case !r.reported.CompareAndSwap(false, true):
	case err != nil:
		r.conn.fail(err)
	default:
		_ = r.conn.send(appendFrame(nil, kindStopped, func(b []byte) []byte { return b })) // otherwise the client has gone
	}
}

var errStopped = errors.New("reading was stopped")

// handOut sends batches up to the end of the last epoch.
func (r *reading) handOut() error {
	r.meter.epoch.Store(r.from.Epoch)
	for ended := 0; r.request.Epochs == 0 || ended < r.request.Epochs; {
		waited := time.Now()
		select {
		case r.space <- struct{}{}:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
		asked := time.Now()
		r.meter.forClient.Add(int64(asked.Sub(waited)))
		epoch := r.meter.epoch.Load()
		b, err := r.reader.Next(r.ctx)
		r.meter.forBatches.Add(int64(time.Since(asked)))
		switch {
		case errors.Is(err, io.EOF) && b == nil:
			ended++
			<-r.space
			after := r.reader.State()
			r.meter.epoch.Store(after.Epoch)
			err = r.conn.send(appendFrame(nil, kindEpoch, func(b []byte) []byte {
				return appendNumbers(b, int64(epoch), int64(after.Epoch), int64(after.Position))
			}))
		case err == nil:
			r.count(b)
			err = r.conn.hand(r, b, r.reader.State())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count counts a batch, and reports its missing samples to the client.
func (r *reading) count(b *loader.Batch) {
	r.meter.count(b)
	for _, s := range b.Skipped {
		_ = r.conn.reply(kindNote, skipNote(s))
	}
}

// skipNote returns the note about a skipped sample.
func skipNote(s loader.Skip) map[string]any {
	return map[string]any{"level": "skip", "text": message(s.Err), "part": s.Part, "index": s.Index, "epoch": s.Epoch}
}

// returned records that a batch was released.
func (r *reading) returned() {
	if r.space != nil {
		<-r.space
	}
}

// stop ends the reader, if it is still running.
func (r *reading) stop() {
	r.cancel(errStopped)
	r.work.Wait()
	if r.reader != nil {
		r.reader.Close()
		r.reportEnd(nil)
	}
}

// appendBatch appends the frame of a batch at a position in a ring of the given
// size.
func appendBatch(to []byte, p *pipeline, layout int, slot uint32, at, ring int64, b *loader.Batch, after loader.State) []byte {
	plan := p.loader.Plan()
	return appendFrame(to, kindBatch, func(to []byte) []byte {
		to = binary.LittleEndian.AppendUint32(to, uint32(layout))
		to = binary.LittleEndian.AppendUint32(to, slot)
		to = appendNumbers(to, at, int64(len(b.Data)), ring, int64(b.Epoch), int64(b.From), int64(b.To), int64(after.Epoch), int64(after.Position))
		to = binary.LittleEndian.AppendUint32(to, uint32(len(b.Samples)))
		to = binary.LittleEndian.AppendUint32(to, uint32(b.Padding))
		for _, k := range b.Samples {
			to = appendNumbers(to, int64(plan.Number(k)))
		}
		return to
	})
}
