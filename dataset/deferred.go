package dataset

import (
	"context"

	"github.com/larder-data/larder/key"
)

// Deferred returns an item that make creates once, when any part of it is requested. It is
// for sources that learn the encoding of an item only by reading it. name is a
// human-readable origin. The item is identified by its content.
func Deferred(name string, make func(ctx context.Context) (*Item, error)) *Item {
	return ItemFrom(&deferred{name: name, make: make})
}

// DeferredBy is [Deferred] for an item that may have an identity without being created: ref
// returns it, or false if only the content identifies the item.
func DeferredBy(name string, ref func() (key.Ref, bool, error), make func(ctx context.Context) (*Item, error)) *Item {
	return ItemFrom(&deferred{name: name, ref: ref, make: make})
}

// deferred is the origin of an item that is created on demand.
type deferred struct {
	name string
	ref  func() (key.Ref, bool, error) // may be nil
	make func(ctx context.Context) (*Item, error)
	made Once[*Item]
}

func (l *deferred) String() string { return l.name }

func (l *deferred) item(ctx context.Context) (*Item, error) { return l.made.Get(ctx, l.make) }

func (l *deferred) value(ctx context.Context) (any, bool, error) {
	it, err := l.item(ctx)
	if err != nil {
		return nil, false, err
	}
	v, ok := it.origin.(valuer)
	if !ok {
		return nil, false, nil
	}
	return v.value(ctx)
}

func (l *deferred) Ext(ctx context.Context) (string, error) {
	it, err := l.item(ctx)
	if err != nil {
		return "", err
	}
	return it.Ext(ctx)
}

func (l *deferred) Bytes(ctx context.Context) ([]byte, error) {
	it, err := l.item(ctx)
	if err != nil {
		return nil, err
	}
	return it.Bytes(ctx)
}

func (l *deferred) Digest(ctx context.Context) (key.Digest, error) {
	it, err := l.item(ctx)
	if err != nil {
		return key.Digest{}, err
	}
	return it.Digest(ctx)
}

func (l *deferred) Ref(ctx context.Context) (key.Ref, error) {
	if l.ref != nil {
		if ref, ok, err := l.ref(); ok || err != nil {
			return ref, err
		}
	}
	it, err := l.item(ctx)
	if err != nil {
		return key.Ref{}, err
	}
	return it.Ref(ctx)
}
