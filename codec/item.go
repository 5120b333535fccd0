package codec

import (
	"cmp"
	"fmt"
	"sync/atomic"
)

// MaxItem bounds the bytes of one item, row or record that is read out of a file which has many,
// so that a small file that is compressed cannot take all memory; 0, the default, means 512 MiB, as much as
// a run has in use at once. More is an error. Items that are files of their own are not
// bounded.
var MaxItem atomic.Int64

const defaultMaxItem = 512 << 20

// moreItem is how larger items are allowed.
const moreItem settingError = "raise --max-item, or limits: {item: BYTES} in the flow file"

// ItemLimit returns the bound that [MaxItem] sets.
func ItemLimit() int64 { return cmp.Or(MaxItem.Load(), defaultMaxItem) }

// CheckItem refuses an item, a row or a record of so many bytes if that is more than it may have.
func CheckItem(bytes int64) error {
	if most := ItemLimit(); bytes > most {
		return fmt.Errorf("it takes %d bytes, and one item may take %d; %w", bytes, most, moreItem)
	}
	return nil
}
