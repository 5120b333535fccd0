package webdataset

import (
	"fmt"

	"github.com/larder-data/larder/format/internal/members"
)

// CheckPlaces checks the entries of an index, and the positions of members in an archive of
// n bytes.
func CheckPlaces(x members.Index, size int64) error {
	if err := x.Check(placeBytes); err != nil {
		return err
	}
	for m := range x.Members() {
		if at, n := placed(x.Place(m)); at < 0 || n < 0 || at+n > size {
			return fmt.Errorf("member %d lies at %d with %d bytes, of %d", m, at, n, size)
		}
	}
	return nil
}

// Scan makes the index of an archive.
var Scan = scan
