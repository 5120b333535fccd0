package stream

import "slices"

// A pile holds the elements of a bucket.
type pile[T any] struct {
	waiting        []sized[T]
	values         []T // of the current batch
	total, longest int // their lengths
}

type sized[T any] struct {
	length int
	value  T
}

// sort moves all waiting elements into batches.
func (b *bucketer[T]) sort(p *pile[T]) {
	slices.SortStableFunc(p.waiting, func(x, y sized[T]) int { return x.length - y.length })
	for _, s := range p.waiting {
		b.put(p, s)
	}
	p.waiting = nil
}

// put adds an element to the batch of its bucket, or begins a new one.
func (b *bucketer[T]) put(p *pile[T], s sized[T]) {
	if len(p.values) > 0 && !b.fits(p, s.length) {
		b.close(p)
	}
	p.values = append(p.values, s.value)
	p.total, p.longest = p.total+s.length, max(p.longest, s.length)
	if len(p.values) == b.of.Size {
		b.close(p)
	}
}

// fits reports whether an element of that length may be added.
func (b *bucketer[T]) fits(p *pile[T], length int) bool {
	switch {
	case b.of.Tokens == 0:
		return true
	case b.of.Padding:
		return max(p.longest, length) <= b.of.Tokens/(len(p.values)+1)
	}
	return length <= b.of.Tokens-p.total
}

// close completes a batch.
func (b *bucketer[T]) close(p *pile[T]) {
	b.n -= len(p.values)
	b.ready = append(b.ready, p.values)
	p.values, p.total, p.longest = nil, 0, 0
}
