package inventory

import (
	"context"
	"errors"
	"io"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Exported says what [Export] wrote.
type Exported struct {
	Records int64 // links included
	Links   int64
	Bytes   int64 // of payload
	// FileDigests counts digests of files, which are valid on one machine only and
	// were left out.
	FileDigests int64
	// Lost counts selected records that were removed in the meantime or are
	// damaged, and links without a target. Evictions make these common.
	Lost int64
}

// Export writes the selected records to w, each link after its target, whether that
// is selected or not. The documentation of the package describes the format.
func Export(ctx context.Context, s store.Records, sel Selection, w io.Writer) (Exported, error) {
	x := exporter{s: s, w: streamWriter{w: w}, done: map[key.Key]bool{}}
	err := x.w.begin()
	if err == nil {
		err = x.all(ctx, sel)
	}
	if err == nil {
		err = x.w.end()
	}
	if err != nil {
		return x.Exported, err
	}
	return x.Exported, nil
}

type exporter struct {
	Exported
	s    store.Records
	w    streamWriter
	done map[key.Key]bool // visited: whether it was written
}

func (x *exporter) all(ctx context.Context, sel Selection) error {
	for r, err := range Records(ctx, x.s, sel) {
		if err != nil {
			return err
		}
		if r.Kind == FileDigest {
			x.FileDigests++
			continue
		}
		written, err := x.record(ctx, r.Key)
		if err != nil {
			return err
		}
		if !written {
			x.Lost++
		}
	}
	return nil
}

// record writes the record under k once, and reports whether it is in the stream.
func (x *exporter) record(ctx context.Context, k key.Key) (bool, error) {
	if written, met := x.done[k]; met {
		return written, nil
	}
	x.done[k] = false
	r, err := x.s.Get(ctx, k)
	if err == nil {
		r.Provenance, err = x.s.Provenance(ctx, k)
	}
	if p, perr := key.ParseProvenance(r.Provenance); err == nil && perr == nil && !p.Description.IsZero() {
		_, err = x.record(ctx, p.Description)
	}
	if err == nil && !r.Link.IsZero() {
		var led bool
		if led, err = x.record(ctx, r.Link); err == nil && !led {
			err = store.ErrNotFound
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		err = x.w.record(r)
	}
	if err != nil {
		return false, err
	}
	x.done[k] = true
	x.Records++
	x.Bytes += int64(len(r.Payload))
	if !r.Link.IsZero() {
		x.Links++
	}
	return true, nil
}
