package webdataset

import (
	"context"
	"fmt"
	"sync"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/called"
	"github.com/larder-data/larder/key"
)

// A member is the origin of an item that is a member of an archive. It is read when it is
// asked for, and known by its content.
type member struct {
	shard     *shard
	name, ext string
	at, size  int64

	mu     sync.Mutex
	digest key.Digest // zero until it is known
}

func (m *member) String() string {
	return called.Name(m.name) + " in " + called.Name(m.shard.path)
}

// Ext implements dataset.Origin.
func (m *member) Ext(context.Context) (string, error) { return m.ext, nil }

// Ref implements dataset.Origin.
func (m *member) Ref(ctx context.Context) (key.Ref, error) {
	d, err := m.Digest(ctx)
	return key.Content(d), err
}

// Bytes implements dataset.Origin. They are those that the digest names.
func (m *member) Bytes(ctx context.Context) ([]byte, error) {
	b, err := m.read(ctx)
	if err == nil && !m.shard.settled {
		_, err = m.known(b)
	}
	return b, err
}

// Digest implements dataset.Origin.
func (m *member) Digest(ctx context.Context) (key.Digest, error) {
	m.mu.Lock()
	d := m.digest
	m.mu.Unlock()
	if !d.IsZero() {
		return d, nil
	}
	b, err := m.read(ctx)
	if err != nil {
		return key.Digest{}, err
	}
	return m.known(b)
}

// known notes the digest of what was read, which must be what it was before: an archive whose
// state may not tell that it was changed could hold something else by now.
func (m *member) known(b []byte) (key.Digest, error) {
	d := key.DigestOf(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.digest.IsZero() && m.digest != d {
		return d, fmt.Errorf("%v: %w", m, dataset.ErrChanged)
	}
	m.digest = d
	return d, nil
}

func (m *member) read(ctx context.Context) ([]byte, error) {
	return dataset.ReadBytes(ctx, m.ext, m.size, func(b []byte) error { return m.shard.read(b, m.at) })
}
