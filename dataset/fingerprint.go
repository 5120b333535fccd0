package dataset

import (
	"context"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// Fingerprint identifies all samples of a dataset, their items and their order, without
// computing any. Items are identified by content if that is known, and otherwise by the
// computation. Equal fingerprints mean equal data.
func Fingerprint(ctx context.Context, ds Dataset[Sample], p *pool.Pool) (key.Digest, error) {
	op, err := key.NewOp("fingerprint", key.Version("1"))
	if err != nil {
		return key.Digest{}, err
	}
	_, names, err := Scan[any]{Op: op, Pool: p}.input(ctx, ds, nil)
	return key.DigestOf(names), err
}
