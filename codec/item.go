package codec

import (
	"cmp"
	"fmt"
	"sync/atomic"
)

// MaxItem bounds the bytes of one item, row or record in a file of many, so that a small
// compressed file cannot take all memory. 0, the default, means 512 MiB, as much as a run
// uses at a time. More is an error. Items that are separate files are not bounded.
var MaxItem atomic.Int64

const defaultMaxItem = 512 << 20

// moreItem tells how to allow larger items.
const moreItem settingError = "raise --max-item, or limits: {item: BYTES} in the flow file"

// ItemLimit returns the bound set by [MaxItem].
func ItemLimit() int64 { return cmp.Or(MaxItem.Load(), defaultMaxItem) }

// CheckItem returns an error if an item, row or record of the given size exceeds the bound.
func CheckItem(bytes int64) error {
	if most := ItemLimit(); bytes > most {
		return fmt.Errorf("%d bytes exceed the limit of %d for an item; %w", bytes, most, moreItem)
	}
	return nil
}
