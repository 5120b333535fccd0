package dataset

import (
	"context"
	"strconv"
	"sync"

	"github.com/larder-data/larder/order"
)

// ReadOrder returns the order in which source is read when ds is read from its
// first sample to its last. ok is false if ds does not come from source one
// sample for one sample: if it joins several datasets, for instance, or if a
// cache in between may keep reads from source.
func ReadOrder(ds, source Dataset[Sample]) (o order.Order, ok bool) {
	o = order.Identity(ds.Len())
	for ds != source {
		switch d := ds.(type) {
		case *reordered[Sample]:
			o, ds = order.Then(o, d.order), d.ds
		case *mapped:
			ds = d.ds
		case *composed:
			ds = d.ds
		case *arranged:
			ds = d.ds
		case *keeping:
			ds = d.ds
		case *traced:
			ds = d.ds
		default:
			return nil, false
		}
	}
	return o, true
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
