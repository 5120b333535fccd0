package inventory

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/larder-data/larder/store"
)

// Imported says what [Import] did.
type Imported struct {
	Records int64 // kept, links included
	Bytes   int64 // of their payload
	Present int64 // were there already, and stay as they are
}

// Import keeps the records of a stream that [Export] wrote, but for those that
// are kept already. It stops at the first damage, or where the end is missing,
// with an error that wraps [ErrDamaged]; what came before is kept.
//
// A stream is trusted as the cache is that it came from: its digests tell
// damage, not whether a value is the right one for its key.
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

// keep puts a record unless there is a sound one.
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
