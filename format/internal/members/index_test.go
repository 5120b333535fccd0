package members_test

import (
	"testing"

	"github.com/larder-data/larder/format/internal/members"
)

// FuzzIndex checks that an index of any bytes is refused, or has no position outside of
// them.
func FuzzIndex(f *testing.F) {
	b := members.NewBuilder(16)
	for _, name := range []string{"0.txt", "0.json", "1.txt"} {
		if err := b.Add(name, make([]byte, 16)); err != nil {
			f.Fatal(err)
		}
	}
	x, err := b.Index()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(x))
	f.Fuzz(func(_ *testing.T, b []byte) {
		x := members.Index(b)
		if x.Check(16) != nil {
			return
		}
		for i := range x.Samples() {
			_ = x.Key(i)
			for m, to := x.MembersOf(i); m < to; m++ {
				_ = x.Suffix(m)
				_ = x.Place(m)
			}
		}
	})
}
