package dataset

import (
	"context"
	"strconv"
)

// CachedPart returns a dataset whose samples have only the items of cached executions: in
// place of an item that is computed but not cached, the items from which it is computed.
// It serves to compute all that can be cached, and nothing else.
func CachedPart(ds Dataset[Sample]) Dataset[Sample] {
	return WithMinBatch(Func(ds.Len(), func(ctx context.Context, i int) (Sample, error) {
		s, err := ds.At(ctx, i)
		if err != nil {
			return Sample{}, err
		}
		var p cachedPart
		err = p.add(ctx, s)
		return NewSample(p.fields...), err
	}), BatchOf(ds))
}

// cachedPart collects items.
type cachedPart struct {
	seen   map[*Execution]bool
	fields []Field
}

func (p *cachedPart) add(ctx context.Context, s Sample) error {
	for f := range s.Fields() {
		e, ok := ExecutionOf(f.Item)
		if !ok || p.seen[e] {
			continue
		}
		if p.seen == nil {
			p.seen = map[*Execution]bool{}
		}
		p.seen[e] = true
		cached, err := e.Keeps(ctx)
		if err != nil {
			return err
		}
		if cached {
			p.fields = append(p.fields, Field{Key: strconv.Itoa(len(p.fields)), Item: f.Item})
		} else if err := p.add(ctx, e.read()); err != nil {
			return err
		}
	}
	return nil
}
