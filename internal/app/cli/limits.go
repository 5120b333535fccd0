package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/display"
)

// limits are the flags that bound the sizes that a file may claim when it is
// decoded. They override the limits of a flow.
type limits struct {
	pixels   int64
	unpacked string
	bytes    int64
	item     string
	most     int64 // of an item
}

func (l *limits) flags(root *cobra.Command) {
	root.PersistentFlags().Int64Var(&l.pixels, "max-pixels", 0, "maximum `pixels` of an image, summed over its pages (default: the limits of the flow, else 268435456)")
	root.PersistentFlags().StringVar(&l.unpacked, "max-unpacked", "", "maximum `bytes` of the arrays of a compressed file, such as 8GiB (default: the limits of the flow, else 4GiB)")
	root.PersistentFlags().StringVar(&l.item, "max-item", "", "maximum `bytes` of an item, row or record in a file of many, such as 2GiB (default: the limits of the flow, else 512MiB)")
}

// set applies the flags to the decoders.
func (l *limits) set() error {
	if l.pixels < 0 {
		return usageError{fmt.Errorf("--max-pixels %d: must not be negative", l.pixels)}
	}
	if l.unpacked != "" {
		var err error
		if l.bytes, err = display.ParseSize(l.unpacked); err != nil {
			return usageError{fmt.Errorf("--max-unpacked: %q %w", l.unpacked, err)}
		}
	}
	if l.item != "" {
		var err error
		if l.most, err = display.ParseSize(l.item); err != nil {
			return usageError{fmt.Errorf("--max-item: %q %w", l.item, err)}
		}
	}
	l.apply(flow.Limits{})
	return nil
}

// apply applies the flags to the decoders, then the limits of a flow where no
// flag is set. Otherwise the current limits stay.
func (l *limits) apply(f flow.Limits) {
	if n := cmp.Or(l.pixels, f.Pixels); n > 0 {
		codec.MaxPixels.Store(n)
	}
	if n := cmp.Or(l.bytes, f.Unpacked); n > 0 {
		codec.MaxUnpacked.Store(n)
	}
	if n := cmp.Or(l.most, f.Item); n > 0 {
		codec.MaxItem.Store(n)
	}
}

// restoreLimits returns a function that restores the current limits of the
// decoders.
func restoreLimits() func() {
	pixels, unpacked, item := codec.MaxPixels.Load(), codec.MaxUnpacked.Load(), codec.MaxItem.Load()
	return func() {
		codec.MaxPixels.Store(pixels)
		codec.MaxUnpacked.Store(unpacked)
		codec.MaxItem.Store(item)
	}
}

// raise is apply for flows that are open concurrently: the limits of all become
// the largest of any.
func (l *limits) raise(f flow.Limits) {
	if f.Pixels <= cmp.Or(codec.MaxPixels.Load(), usualPixels) {
		f.Pixels = 0
	}
	if f.Unpacked <= cmp.Or(codec.MaxUnpacked.Load(), usualUnpacked) {
		f.Unpacked = 0
	}
	if f.Item <= codec.ItemLimit() {
		f.Item = 0
	}
	l.apply(f)
}

// The default bounds.
const (
	usualPixels   = 1 << 28
	usualUnpacked = 4 << 30
)
