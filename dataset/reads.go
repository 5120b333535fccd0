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

// ordered is a dataset that knows in which order it reads what it is made of.
type ordered interface {
	// ReadOrder returns the order in which source is read when the dataset is read
	// in the order o, as the function of that name does.
	ReadOrder(source Dataset[Sample], o order.Order) (reads order.Order, ok bool)
}

// readOrder is the order in which source is read when ds is read in the order o.
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
	if !ok || c.ways > mostWays {
		return nil, false
	}
	parts, ok := readOrders(samples.parts, source, nil)
	return order.Then(o, order.Concat(parts...)), ok
}

func (z *zipped) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	if z.ways > mostWays {
		return nil, false
	}
	parts, ok := readOrders(z.parts, source, o)
	return order.Interleave(parts...), ok
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
