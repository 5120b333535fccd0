package indexed

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

// A Part is the origin of an item in a file with others. It is read on demand, and
// identified by its content.
type Part struct {
	of        *File
	name, ext string
	from      func(ctx context.Context) ([]byte, error)
	at, size  int64 // in the file; size is -1 for bytes that are not stored as they are
	place     []any // position of the source data, if that identifies them

	mu     sync.Mutex
	digest key.Digest // zero until it is known
}

// Part returns a part of the file with the given position and size. name is
// human-readable, and ext is the extension of the item.
func (in *File) Part(name, ext string, at, size int64) *Part {
	p := &Part{of: in, name: name, ext: ext, at: at, size: size}
	p.from = func(ctx context.Context) ([]byte, error) {
		if err := p.fits(size); err != nil {
			return nil, err
		}
		if in.Held == nil {
			return dataset.ReadBytes(ctx, ext, size, func(b []byte) error { return in.Read(ctx, b, at) })
		}
		b, err := in.Held.Read(ctx, in, ext, at, size)
		return bytes.Clone(b), err // a slice would keep the whole piece in memory
	}
	return p
}

// PartBy is [File.Part] for bytes that are not stored in the file as they are: fill
// reads them, with [File.Through]. place identifies their source data in the file;
// without it only the content identifies them.
func (in *File) PartBy(name, ext string, size int64, place []any, fill func(ctx context.Context, b []byte) error) *Part {
	p := &Part{of: in, name: name, ext: ext, size: -1, place: place}
	p.from = func(ctx context.Context) ([]byte, error) {
		if err := p.fits(size); err != nil {
			return nil, err
		}
		return dataset.ReadBytes(ctx, ext, size, func(b []byte) error { return fill(ctx, b) })
	}
	return p
}

// fits refuses a part that is larger than an item may be, before memory is allocated.
func (p *Part) fits(size int64) error {
	if err := codec.CheckItem(size); err != nil {
		return fmt.Errorf("%v: %w", p, err)
	}
	return nil
}

func (p *Part) String() string { return display.Name(p.name) + " in " + display.Name(p.of.Path) }

// Ext implements dataset.Origin.
func (p *Part) Ext(context.Context) (string, error) { return p.ext, nil }

// Ref implements dataset.Origin. A remote part is identified by its position, so cached
// results are found without fetching a byte of it.
func (p *Part) Ref(ctx context.Context) (key.Ref, error) {
	if p.of.far != nil && p.of.settled && p.of.text == nil && p.size >= 0 {
		return p.of.refFar(p.ext, p.at, p.size)
	}
	if p.place != nil {
		if ref, ok, err := p.of.RefMade("part made of a file at a place", append([]any{p.ext}, p.place...)...); ok || err != nil {
			return ref, err
		}
	}
	d, err := p.Digest(ctx)
	return key.Content(d), err
}

// Bytes implements dataset.Origin. The bytes match the digest.
func (p *Part) Bytes(ctx context.Context) ([]byte, error) {
	b, err := p.from(ctx)
	if err == nil && !p.of.settled {
		_, err = p.known(b)
	}
	return b, err
}

// Digest implements dataset.Origin.
func (p *Part) Digest(ctx context.Context) (key.Digest, error) {
	p.mu.Lock()
	d := p.digest
	p.mu.Unlock()
	if !d.IsZero() {
		return d, nil
	}
	b, err := p.from(ctx)
	if err != nil {
		return key.Digest{}, err
	}
	return p.known(b)
}

// known records the digest of the bytes read, which must be the same as before, because
// a change of a file may not show in its state.
func (p *Part) known(b []byte) (key.Digest, error) {
	d := key.DigestOf(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.digest.IsZero() && p.digest != d {
		return d, fmt.Errorf("%v: %w", p, dataset.ErrChanged)
	}
	p.digest = d
	return d, nil
}
