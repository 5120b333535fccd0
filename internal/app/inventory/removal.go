package inventory

import (
	"cmp"
	"context"
	"math"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Removed lists what was removed from a store, or would be.
type Removed struct {
	Nodes     []Node   // removed records by node, sorted by name
	Manifests []string // deleted, sorted by name
	// Freed is the number of bytes by which the store shrank on its medium. It may
	// be less than the size of the records, because others remain in the same
	// files. For a dry run it is an estimate.
	Freed int64
}

// Records returns how many records were removed, links included, and the bytes
// of their payload.
func (r Removed) Records() (records, pinned, bytes int64) {
	for _, n := range r.Nodes {
		records += n.Records + n.Links
		pinned += n.Pinned
		bytes += n.Bytes
	}
	return records, pinned, bytes
}

// A remover deletes records and sums them up.
type remover struct {
	s      store.Store
	dry    bool
	gone   nodes
	keys   []key.Key // to be deleted
	before int64     // bytes on the medium before
}

func newRemover(ctx context.Context, s store.Store, dry bool) (*remover, error) {
	u, err := s.Usage(ctx)
	if err != nil {
		return nil, err
	}
	return &remover{s: s, dry: dry, gone: nodes{}, before: u.Bytes}, nil
}

const batch = 1000

func (r *remover) remove(ctx context.Context, rec Record) error {
	r.gone.add(rec)
	if r.dry {
		return nil
	}
	if r.keys = append(r.keys, rec.Key); len(r.keys) < batch {
		return nil
	}
	return r.flush(ctx)
}

func (r *remover) flush(ctx context.Context) error {
	keys := r.keys
	r.keys = nil
	if len(keys) == 0 {
		return nil
	}
	if err := r.s.Delete(ctx, keys...); err != nil {
		return err
	}
	return nil
}

// collect frees the space of deleted records, and evicts down to a limit; 0 means
// the store's own.
func (r *remover) collect(ctx context.Context, limit int64) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	u, err := r.s.Usage(ctx)
	if err != nil {
		return err
	}
	if _, err := r.s.Collect(ctx, cmp.Or(limit, u.Limit, math.MaxInt64)); err != nil {
		return err
	}
	return nil
}

// removed completes the removal.
func (r *remover) removed(ctx context.Context, manifests []string) (Removed, error) {
	u, err := r.s.Usage(ctx)
	if err != nil {
		return Removed{}, err
	}
	return Removed{Nodes: r.gone.sorted(), Manifests: manifests, Freed: max(r.before-u.Bytes, 0)}, nil
}
