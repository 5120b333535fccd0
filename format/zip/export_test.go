package zip

import (
	"fmt"
	"io"

	"github.com/larder-data/larder/format/internal/members"
)

// Scan makes the index of an archive.
var Scan = scan

// ReadAll checks the entries of an index and their positions in an archive of n bytes, and
// reads small members.
func ReadAll(x members.Index, from io.ReaderAt, size int64) error {
	if err := x.Check(placeBytes); err != nil {
		return err
	}
	for i := range x.Samples() {
		for m, to := x.MembersOf(i); m < to; m++ {
			p := placed(x.Place(m))
			if p.at < 0 || p.extent < 0 || p.at+p.extent > size || p.packed < 0 || p.packed > p.extent || p.unpacked < 0 || p.unpacked>>15 > p.packed {
				return fmt.Errorf("member %d: %+v of %d", m, p, size)
			}
			if p.unpacked < 1<<20 {
				_ = p.read(from, x.Key(i)+"."+x.Suffix(m), make([]byte, p.unpacked))
			}
		}
	}
	return nil
}
