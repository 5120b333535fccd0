package dataset

import (
	"context"

	"github.com/larder-data/larder/key"
)

// Later returns an item that is made when anything of it is asked for, once: of sources that
// learn how an item is read only by reading it. name says for people where it comes from. What
// make returns is known by its content.
func Later(name string, make func(ctx context.Context) (*Item, error)) *Item {
	return ItemFrom(&later{name: name, make: make})
}

// LaterBy is [Later] for an item that may have a name without being made: ref returns it, and false
// where it has none but its content.
func LaterBy(name string, ref func() (key.Ref, bool, error), make func(ctx context.Context) (*Item, error)) *Item {
	return ItemFrom(&later{name: name, ref: ref, make: make})
}

// later is the origin of an item that is made when it is asked for.
type later struct {
	name string
	ref  func() (key.Ref, bool, error) // may be nil
	make func(ctx context.Context) (*Item, error)
	made Once[*Item]
}

func (l *later) String() string { return l.name }

func (l *later) item(ctx context.Context) (*Item, error) { return l.made.Get(ctx, l.make) }

func (l *later) value(ctx context.Context) (any, bool, error) {
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

func (l *later) Ext(ctx context.Context) (string, error) {
	it, err := l.item(ctx)
	if err != nil {
		return "", err
	}
	return it.Ext(ctx)
}

func (l *later) Bytes(ctx context.Context) ([]byte, error) {
	it, err := l.item(ctx)
	if err != nil {
		return nil, err
	}
	return it.Bytes(ctx)
}

func (l *later) Digest(ctx context.Context) (key.Digest, error) {
	it, err := l.item(ctx)
	if err != nil {
		return key.Digest{}, err
	}
	return it.Digest(ctx)
}

func (l *later) Ref(ctx context.Context) (key.Ref, error) {
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
