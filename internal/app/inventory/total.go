package inventory

import (
	"context"
	"time"

	"github.com/larder-data/larder/store"
)

// A Total sums up a store.
type Total struct {
	Usage     store.Usage
	Kinds     []KindTotal // existing kinds, in the order of their declaration
	Cost      time.Duration
	Pinned    int64 // number of records
	Manifests int64
}

// A KindTotal sums up the records of one kind.
type KindTotal struct {
	Kind    Kind
	Records int64
	Bytes   int64         // of payload
	Cost    time.Duration // time that computing all of them took
}

// Totals sums up the content of s.
func Totals(ctx context.Context, s store.Store) (t Total, err error) {
	kinds := map[Kind]KindTotal{}
	for r, err := range Records(ctx, s, Selection{}) {
		if err != nil {
			return t, err
		}
		k := kinds[r.Kind]
		k.Records++
		k.Bytes += r.Size
		if r.isResult() {
			k.Cost += r.Cost
			t.Cost += r.Cost
		}
		kinds[r.Kind] = k
		if r.Pinned {
			t.Pinned++
		}
	}
	for _, kind := range []Kind{Value, Link, RecordedInputs, Operation, FileDigest, Unexplained} {
		if k, ok := kinds[kind]; ok {
			k.Kind = kind
			t.Kinds = append(t.Kinds, k)
		}
	}
	for _, err := range s.Manifests(ctx) {
		if err != nil {
			return t, err
		}
		t.Manifests++
	}
	if t.Usage, err = s.Usage(ctx); err != nil {
		return t, err
	}
	return t, nil
}
