package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Description is everything known about one record.
type Description struct {
	Record
	Parts      []key.Part // of the key, from the record
	LinkedFrom []key.Key  // links to this record, in order
	Manifests  []Mention  // by name
	// Content describes the value; for a link, that of its target. It is nil if
	// there is no value.
	Content *Content
}

// A Mention is a manifest that names a record, or a link to it.
type Mention struct {
	Name   string
	Pinned bool
}

// Describe describes the record that r lists.
func Describe(ctx context.Context, s store.Store, r Record) (Description, error) {
	d := Description{Record: r}
	p, err := s.Provenance(ctx, r.Key)
	if err != nil {
		return d, err
	}
	reader := records.ProvenanceReader{Store: s}
	if parts, err := reader.Read(ctx, p); err == nil {
		d.Parts = parts
	}
	for info, err := range s.Records(ctx) {
		if err != nil {
			return d, err
		}
		if info.Link == r.Key {
			d.LinkedFrom = append(d.LinkedFrom, info.Key)
		}
	}
	slices.SortFunc(d.LinkedFrom, func(a, b key.Key) int { return slices.Compare(a[:], b[:]) })
	if d.Manifests, err = mentions(ctx, s, append([]key.Key{r.Key}, d.LinkedFrom...)); err != nil {
		return d, err
	}
	rec, err := Get(ctx, s, r.Key)
	switch {
	case err == nil:
		c := contentOf(rec)
		d.Content = &c
	case !errors.Is(err, store.ErrNotFound):
		return d, err
	}
	return d, nil
}

// Get returns the record under k, or the target of a link.
func Get(ctx context.Context, s store.Records, k key.Key) (store.Record, error) {
	r, err := s.Get(ctx, k)
	if err == nil && !r.Link.IsZero() {
		r, err = s.Get(ctx, r.Link)
	}
	if err != nil {
		return r, fmt.Errorf("record %s: %w", k, err)
	}
	return r, nil
}

func mentions(ctx context.Context, s store.Manifests, keys []key.Key) (list []Mention, err error) {
	for m, err := range manifests(ctx, s) {
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(m.Keys, func(k key.Key) bool { return slices.Contains(keys, k) }) {
			list = append(list, Mention{m.Name, m.Pinned})
		}
	}
	slices.SortFunc(list, func(a, b Mention) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
