package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/larder-data/larder/store"
)

// Imported is the result of [Import].
type Imported struct {
	Records int64 // stored, links included
	Bytes   int64 // of their payload
	Present int64 // existed before, and stay unchanged
}

// Import stores the records of a stream that [Export] wrote, except those that are
// already stored. It stops at the first damage, or at a missing end, with an error
// that wraps [ErrDamaged]. It keeps the records before that.
//
// A stream must be trusted like the cache that it came from. Its digests detect
// damage, but not whether a value is correct for its key.
func Import(ctx context.Context, s store.Records, r io.Reader) (n Imported, err error) {
	in := streamReader{r: r}
	if err := in.begin(); err != nil {
		return n, err
	}
	for {
		if err := context.Cause(ctx); err != nil {
			return n, err
		}
		rec, err := in.record()
		if errors.Is(err, errEnd) {
			return n, nil
		}
		if err == nil {
			err = n.keep(ctx, s, rec)
		}
		if err != nil {
			return n, fmt.Errorf("after %d records: %w", in.records, err)
		}
	}
}

func (n *Imported) keep(ctx context.Context, s store.Records, r store.Record) error {
	_, err := s.Get(ctx, r.Key)
	switch {
	case err == nil:
		n.Present++
		return nil
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	if err := s.Put(ctx, r); err != nil {
		return err
	}
	n.Records++
	n.Bytes += int64(len(r.Payload))
	return nil
}
