package stream

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/larder-data/larder/internal/proc/singleflight"
)

// A reading is what branches that were opened together read. A goroutine reads the input,
// an element when a branch has none left. Elements that a branch has yet to have are in
// memory, and those that came when there was no room in a spool, up to the last one.
type reading[T any] struct {
	of     *trunk[T]
	o      *opening
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
	wanted chan struct{} // gets one when an element is to be read

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
	err      error // behind end
	read     chan struct{}
}

// An entry is an element that came, with the mark of the input behind it.
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

// next returns what comes next in a branch, and whose it is.
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
			r.wanted <- struct{}{} // has room, as nothing is being read
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

// entry finds the element that comes next in a branch, and where in the spool the one
// after it is.
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

// begin starts reading where the branch is that is furthest behind.
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

// step reads an element, unless there was an error before, and tells who waits for it.
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

// add takes an element in: into memory if there is room and nothing is in the spool, and
// else into that.
func (r *reading[T]) add(e entry[T]) error {
	room := len(r.memory) < r.of.Elements && r.bytes+e.size <= r.of.Bytes || len(r.memory) == 0 && r.of.Elements > 0
	if r.spool.empty() && room {
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

// trim lets go what all branches have had.
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
