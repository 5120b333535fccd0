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
	mostRemoteSamples = 1 << 15 // per batch; each needs half a kilobyte of metadata
	mostRemoteBytes   = 1 << 30 // per batch
	mostRemoteParts   = 64
	mostRemoteFields  = 512
	mostRemoteBuckets = 1024
)

// bounded refuses requests that would take more memory than one client may have.
func (o *openRequest) bounded() error {
	for _, b := range []struct {
		what      string
		has, most int
	}{
		{"samples in a batch", o.Batch.Size, mostRemoteSamples},
		{"parts", len(o.Parts), mostRemoteParts},
		{"fields", len(o.Fields), mostRemoteFields},
		{"buckets", len(o.Batch.Buckets), mostRemoteBuckets},
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
	if bytes > mostRemoteBytes {
		return nil, requestError{fmt.Errorf("a batch of %d bytes; those for other machines have at most %d: take smaller batches", bytes, mostRemoteBytes)}
	}
	return r.Allocator.Allocate(ctx, bytes)
}
