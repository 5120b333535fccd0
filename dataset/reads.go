package dataset

import (
	"context"
	"strconv"
	"sync"

	"github.com/larder-data/larder/order"
)

// ReadOrder returns the order in which source is read when ds is read from its
// first sample to its last. ok is false if that is not known: if ds joins source
// with other datasets, for instance, or if a cache in between may keep reads
// from it.
func ReadOrder(ds, source Dataset[Sample]) (o order.Order, ok bool) {
	return readOrder(ds, source, order.Identity(ds.Len()))
}

// readOrder is the order in which source is read when ds is read in the order o.
func readOrder(ds, source Dataset[Sample], o order.Order) (order.Order, bool) {
	if ds == source {
		return o, true
	}
	switch d := ds.(type) {
	case *reordered[Sample]:
		return readOrder(d.ds, source, order.Then(o, d.order))
	case *mapped:
		return readOrder(d.ds, source, o)
	case *composed:
		return readOrder(d.ds, source, o)
	case *arranged:
		return readOrder(d.ds, source, o)
	case *each:
		return readOrder(d.ds, source, o)
	case *keeping:
		return readOrder(d.ds, source, o)
	case *traced:
		return readOrder(d.ds, source, o)
	case *cat[Sample]:
		parts, ok := readOrders(d.parts, source, nil)
		return order.Then(o, order.Concat(parts...)), ok
	case *zipped:
		parts, ok := readOrders(d.parts, source, o)
		return order.Interleave(parts...), ok
	}
	return nil, false
}

// readOrders are the orders in which source is read by each of several parts,
// all of which must read it once a sample. Nil reads each part as it is.
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

// Each is ds with every sample changed by f, which is told its position.
func Each(ds Dataset[Sample], f func(ctx context.Context, i int, s Sample) (Sample, error)) Dataset[Sample] {
	return &each{ds, f}
}

type each struct {
	ds     Dataset[Sample]
	change func(ctx context.Context, i int, s Sample) (Sample, error)
}

func (e *each) Len() int { return e.ds.Len() }

func (e *each) At(ctx context.Context, i int) (Sample, error) {
	s, err := e.ds.At(ctx, i)
	if err != nil {
		return Sample{}, err
	}
	return e.change(ctx, i, s)
}

// Traced is ds, with write told of the position of every sample that is asked
// for, a line each.
func Traced(ds Dataset[Sample], write func(line []byte)) Dataset[Sample] {
	return &traced{ds: ds, write: write}
}

type traced struct {
	ds    Dataset[Sample]
	mu    sync.Mutex
	write func(line []byte)
}

func (t *traced) Len() int { return t.ds.Len() }

func (t *traced) At(ctx context.Context, i int) (Sample, error) {
	t.mu.Lock()
	t.write(append(strconv.AppendInt(nil, int64(i), 10), '\n'))
	t.mu.Unlock()
	return t.ds.At(ctx, i)
}
