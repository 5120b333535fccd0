package dataset

import (
	"context"
	"strconv"
	"sync"

	"github.com/larder-data/larder/order"
)

// ReadOrder returns the order in which source is read when ds is read from its first
// sample to its last. ok is false if that is not known, for instance if ds joins source
// with other datasets, or if a cache in between may absorb reads.
func ReadOrder(ds, source Dataset[Sample]) (o order.Order, ok bool) {
	return readOrder(ds, source, order.Identity(ds.Len()))
}

// ordered is a dataset that knows the order in which it reads its inputs.
type ordered interface {
	// ReadOrder returns the order in which source is read when the dataset is read in the
	// order o: see the function [ReadOrder].
	ReadOrder(source Dataset[Sample], o order.Order) (reads order.Order, ok bool)
}

// readOrder returns the order in which source is read when ds is read in the order o.
func readOrder(ds, source Dataset[Sample], o order.Order) (order.Order, bool) {
	if ds == source {
		return o, true
	}
	if d, ok := ds.(ordered); ok {
		return d.ReadOrder(source, o)
	}
	return nil, false
}

func (d *mapped) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	return readOrder(d.ds, source, o)
}

func (a *arranged) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	return readOrder(a.ds, source, o)
}

func (e *each) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	return readOrder(e.ds, source, o)
}

func (k *keeping) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	return readOrder(k.ds, source, o)
}

func (t *traced) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	return readOrder(t.ds, source, o)
}

func (r *reordered[T]) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	ds, ok := any(r.ds).(Dataset[Sample])
	if !ok {
		return nil, false
	}
	return readOrder(ds, source, order.Then(o, r.order))
}

func (c *cat[T]) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	samples, ok := any(c).(*cat[Sample])
	if !ok || c.ways > maxWays {
		return nil, false
	}
	parts, ok := readOrders(samples.parts, source, nil)
	return order.Then(o, order.Concat(parts...)), ok
}

func (z *zipped) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	if z.ways > maxWays {
		return nil, false
	}
	parts, ok := readOrders(z.parts, source, o)
	return order.Interleave(parts...), ok
}

// readOrders returns the orders in which several parts read source, if each of them
// reads it once per sample. A nil o reads each part in sequence.
func readOrders(parts []Dataset[Sample], source Dataset[Sample], o order.Order) (all []order.Order, ok bool) {
	for _, part := range parts {
		in := o
		if in == nil {
			in = order.Identity(part.Len())
		}
		reads, ok := readOrder(part, source, in)
		if !ok || reads.Len() != in.Len() {
			return nil, false
		}
		all = append(all, reads)
	}
	return all, len(all) > 0
}

// Each returns ds with f applied to every sample and its position.
func Each(ds Dataset[Sample], f func(ctx context.Context, i int, s Sample) (Sample, error)) Dataset[Sample] {
	return &each{ds, ds.Len(), f}
}

type each struct {
	ds     Dataset[Sample]
	n      int // number of samples
	change func(ctx context.Context, i int, s Sample) (Sample, error)
}

func (e *each) Len() int { return e.n }

func (e *each) At(ctx context.Context, i int) (Sample, error) {
	s, err := e.ds.At(ctx, i)
	if err != nil {
		return Sample{}, err
	}
	return e.change(ctx, i, s)
}

// Traced returns ds and writes the position of every requested sample, one per line.
func Traced(ds Dataset[Sample], write func(line []byte)) Dataset[Sample] {
	return &traced{ds: ds, n: ds.Len(), write: write}
}

type traced struct {
	ds    Dataset[Sample]
	n     int // number of samples
	mu    sync.Mutex
	write func(line []byte)
}

func (t *traced) Len() int { return t.n }

func (t *traced) At(ctx context.Context, i int) (Sample, error) {
	t.mu.Lock()
	t.write(append(strconv.AppendInt(nil, int64(i), 10), '\n'))
	t.mu.Unlock()
	return t.ds.At(ctx, i)
}
