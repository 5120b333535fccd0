package server

import (
	"context"
	"fmt"
	"path"

	"github.com/larder-data/larder/loader"
)

// Bounds of a request from another machine. A local client pays for its memory
// itself; a remote one would take it from all other clients.
const (
	maxRemoteSamples = 1 << 15 // per batch; each needs half a kilobyte of metadata
	maxRemoteBytes   = 1 << 30 // per batch
	maxRemoteParts   = 64
	maxRemoteFields  = 512
	maxRemoteBuckets = 1024
)

// bounded refuses requests that would take more memory than one client may have.
func (o *openRequest) bounded() error {
	for _, b := range []struct {
		what      string
		has, most int
	}{
		{"samples in a batch", o.Batch.Size, maxRemoteSamples},
		{"parts", len(o.Parts), maxRemoteParts},
		{"fields", len(o.Fields), maxRemoteFields},
		{"buckets", len(o.Batch.Buckets), maxRemoteBuckets},
	} {
		if b.has > b.most {
			return requestError{fmt.Errorf("%d %s; another machine may ask for at most %d", b.has, b.what, b.most)}
		}
	}
	if ext := path.Ext(o.Flow.File); ext != ".yaml" && ext != ".yml" {
		return requestError{fmt.Errorf("%q is not a flow: name a file that ends in .yaml or .yml", o.Flow.File)}
	}
	return nil
}

// remoteAllocator allocates batches for other machines.
type remoteAllocator struct{ loader.Allocator }

// Allocate implements [loader.Allocator].
func (r remoteAllocator) Allocate(ctx context.Context, bytes int64) ([]byte, error) {
	if bytes > maxRemoteBytes {
		return nil, requestError{fmt.Errorf("a batch of %d bytes; those for other machines have at most %d: take smaller batches", bytes, maxRemoteBytes)}
	}
	return r.Allocator.Allocate(ctx, bytes)
}
