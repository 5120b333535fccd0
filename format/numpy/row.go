package numpy

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/key"
)

// A row is a row of a column. It implements [dataset.ArrayOrigin], so it is read on
// demand into memory of the caller.
type row struct {
	*column
	number int
}

func (r *row) String() string { return fmt.Sprintf("%s, row %d", r.path, r.number) }

// Ext implements dataset.Origin.
func (r *row) Ext(context.Context) (string, error) { return "npy", nil }

// Array implements dataset.ArrayOrigin.
func (r *row) Array() (array.DType, []int) { return r.dtype, r.shape[1:] }

// ReadArray implements dataset.ArrayOrigin.
func (r *row) ReadArray(dst []byte) error {
	at := int64(r.number) * r.size
	if r.file == nil {
		copy(dst, r.data[at:][:r.size])
		return nil
	}
	now := time.Since(began)
	err := r.read(dst, r.offset+at, now)
	if err != nil {
		r.checked.Store(0) // a change just now may be the cause
	}
	if changed := r.check(now); changed != nil {
		err = changed // the change also explains a failed read
	}
	if err != nil {
		return fmt.Errorf("%v: %w", r, err)
	}
	if r.swap {
		array.SwapBytes(dst, r.dtype.Word())
	}
	return nil
}

// Bytes implements dataset.Origin: the row as a .npy file.
func (r *row) Bytes(context.Context) ([]byte, error) {
	data := make([]byte, r.size)
	if err := r.ReadArray(data); err != nil {
		return nil, err
	}
	a, err := array.New(r.dtype, r.shape[1:], data)
	if err != nil {
		return nil, err
	}
	c, _ := codec.ByExtension("npy") // always exists
	return c.Encode(a)
}

// Digest implements dataset.Origin.
func (r *row) Digest(ctx context.Context) (key.Digest, error) {
	b, err := r.Bytes(ctx)
	return key.DigestOf(b), err
}

// Ref implements dataset.Origin: a row is identified by its content.
func (r *row) Ref(ctx context.Context) (key.Ref, error) {
	d, err := r.Digest(ctx)
	return key.Content(d), err
}
