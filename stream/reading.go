package stream

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/larder-data/larder/internal/proc/singleflight"
)

// A reading is the shared input of branches that were opened together. A goroutine reads
// an element when a branch needs one. Elements that a branch has not received yet are in
// memory. Those that did not fit, up to the last one, are in a spool.
type reading[T any] struct {
	of     *trunk[T]
	o      *opening
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
	wanted chan struct{} // receives a value when an element is needed

	mu       sync.Mutex
	branches []*branchCursor[T]
	begun    bool
	reading  bool
	first    uint64 // position of the first in memory
	memory   []entry[T]
	bytes    int64 // in memory
	end      uint64
	last     entry[T] // the one before end
	spool    *spool
	err      error // after end
	read     chan struct{}
}

// An entry is an element, with the mark of the input after it.
type entry[T any] struct {
	value T
	whose int
	mark  []byte
	size  int64
}

func newReading[T any](t *trunk[T], s *session) *reading[T] {
	r := &reading[T]{of: t, wanted: make(chan struct{}, 1), read: make(chan struct{}), spool: newSpool(t.Dir)}
	ctx, cancel := context.WithCancelCause(s.ctx)
	r.o, r.cancel = &opening{ctx, &marks{}, s}, cancel
	return r
}

func (r *reading[T]) join(c *branchCursor[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.branches = append(r.branches, c)
}

// next returns the next element for a branch, and the branch that it belongs to.
func (r *reading[T]) next(ctx context.Context, c *branchCursor[T]) (v T, whose int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin()
	for c.at >= r.end {
		if r.err != nil {
			return v, 0, r.err
		}
		if !r.reading {
			r.reading = true
			r.wanted <- struct{}{} // has capacity, as nothing is being read
		}
		read := r.read
		r.mu.Unlock()
		select {
		case <-read:
		case <-ctx.Done():
		}
		r.mu.Lock()
		if ctx.Err() != nil {
			return v, 0, context.Cause(ctx)
		}
	}
	e, err := r.entry(c)
	if err != nil {
		return v, 0, fmt.Errorf("fork: %w", err)
	}
	c.at++
	c.before = append(c.before[:0], e.mark...)
	r.trim()
	return e.value, e.whose, nil
}

// entry finds the next element of a branch, and the location of its successor in the
// spool.
func (r *reading[T]) entry(c *branchCursor[T]) (e entry[T], err error) {
	switch {
	case c.at < r.first+uint64(len(r.memory)):
		return r.memory[c.at-r.first], nil
	case c.at+1 == r.end:
		return r.last, nil
	}
	record, err := r.spool.get(&c.file)
	if err != nil {
		return e, err
	}
	return r.of.unpack(record)
}

// begin starts reading at the position of the last branch.
func (r *reading[T]) begin() {
	if r.begun {
		return
	}
	r.begun = true
	behind := slices.MinFunc(r.branches, func(a, b *branchCursor[T]) int { return int(int64(a.at) - int64(b.at)) })
	r.first, r.end = behind.at, behind.at
	mark := slices.Clone(behind.before)
	r.work.Go(func() {
		in, err := r.of.open(r.o, mark)
		if err == nil {
			defer in.close()
		}
		for {
			select {
			case <-r.wanted:
			case <-r.o.ctx.Done():
				return
			}
			err = r.step(in, err)
		}
	})
}

// step reads an element, unless there was an error before, and wakes the waiting
// branches.
func (r *reading[T]) step(in *input[T], before error) error {
	err := errGone
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err, r.reading = err, false
		close(r.read)
		r.read = make(chan struct{})
	}()
	if before == nil {
		_, before = singleflight.Protect(func() (struct{}, error) { return struct{}{}, r.one(in) })
	}
	err = before
	return err
}

// one reads an element.
func (r *reading[T]) one(in *input[T]) error {
	v, err := in.next(r.o.ctx)
	if err != nil {
		return err
	}
	whose, err := r.of.whose(v)
	if err != nil {
		return in.wrong("route", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.add(entry[T]{v, whose, in.mark(nil), max(r.of.Size(v), 0)}); err != nil {
		return in.wrong("fork", err)
	}
	return nil
}

// add stores an element: in memory if it fits and the spool is empty, and else in the
// spool.
func (r *reading[T]) add(e entry[T]) error {
	space := len(r.memory) < r.of.Elements && r.bytes+e.size <= r.of.Bytes || len(r.memory) == 0 && r.of.Elements > 0
	if r.spool.empty() && space {
		r.memory = append(r.memory, e)
		r.bytes += e.size
	} else if err := r.write(e); err != nil {
		return err
	}
	r.last = e
	r.end++
	return nil
}

func (r *reading[T]) write(e entry[T]) error {
	record, err := r.of.pack(e)
	if err != nil {
		return err
	}
	first := r.spool.empty()
	at, err := r.spool.put(record, r.end)
	for _, c := range r.branches {
		if first || c.at == r.end {
			c.file = at
		}
	}
	return err
}

// trim releases elements that all branches have received.
func (r *reading[T]) trim() {
	behind := r.end
	for _, c := range r.branches {
		behind = min(behind, c.at)
	}
	for len(r.memory) > 0 && r.first < behind {
		r.bytes -= r.memory[0].size
		r.memory[0] = entry[T]{}
		r.memory = r.memory[1:]
		r.first++
	}
	if len(r.memory) == 0 {
		r.first = behind
	}
	r.spool.trim(behind)
	if behind == r.end {
		r.last = entry[T]{}
	}
}

// leave ends a branch, and with the last one the reading.
func (r *reading[T]) leave(c *branchCursor[T]) {
	r.mu.Lock()
	r.branches = slices.DeleteFunc(r.branches, func(b *branchCursor[T]) bool { return b == c })
	left := len(r.branches)
	if left > 0 {
		r.trim()
	}
	r.mu.Unlock()
	if left == 0 {
		r.cancel(ErrClosed)
		r.work.Wait()
		r.spool.close()
	}
}
