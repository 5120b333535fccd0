package loader

import (
	"context"
	"errors"
	"sync"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/pool"
)

// A shelf holds the samples in use, so that concurrent readers of a sample
// share it and its decoded items.
type shelf struct {
	mu sync.Mutex
	of map[place]*held
}

// A place identifies a sample by its number and the edition of an epoch.
type place struct {
	edition uint64
	number  int
}

// held is a sample in use.
type held struct {
	users int
	found chan struct{} // closed when the result is set; nil if no goroutine waits
	done  bool
	value dataset.Sample
	err   error
}

// take returns the sample of a place. It calls find if the sample is not in
// use. The caller must call give afterwards, also after an error.
func (s *shelf) take(ctx context.Context, at place, find func() (dataset.Sample, error)) (dataset.Sample, error) {
	s.mu.Lock()
	h := s.of[at]
	if h == nil {
		h = &held{users: 1}
		s.of[at] = h
		s.mu.Unlock()
		return s.find(h, find)
	}
	h.users++
	if !h.done && h.found == nil {
		h.found = make(chan struct{})
	}
	done, found := h.done, h.found
	s.mu.Unlock()
	if !done {
		if err := wait(ctx, found); err != nil {
			return dataset.Sample{}, err
		}
	}
	if h.err != nil && errors.Is(h.err, context.Canceled) && ctx.Err() == nil {
		return find() // the first caller was cancelled
	}
	return h.value, h.err
}

// wait waits for another reader of a sample, which may itself wait for memory.
func wait(ctx context.Context, found <-chan struct{}) error {
	defer pool.Wait(ctx)()
	select {
	case <-found:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errGone = errors.New("loader: the reader of the sample has ended")

func (s *shelf) find(h *held, find func() (dataset.Sample, error)) (dataset.Sample, error) {
	v, err := dataset.Sample{}, errGone
	defer func() { // also after a panic, or others would wait forever
		s.mu.Lock()
		defer s.mu.Unlock()
		h.value, h.err, h.done = v, err, true
		if h.found != nil {
			close(h.found)
		}
	}()
	v, err = find()
	return v, err
}

func (s *shelf) give(at place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.of[at]
	if h.users--; h.users == 0 {
		delete(s.of, at)
	}
}
