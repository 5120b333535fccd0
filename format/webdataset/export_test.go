package webdataset

import "fmt"

// CheckIndex holds bytes to what an index has, and goes through it.
func CheckIndex(b []byte) error {
	x := index(b)
	if err := x.check(); err != nil {
		return err
	}
	for i := range x.samples() {
		_ = x.key(i)
		for m, to := x.membersOf(i); m < to; m++ {
			_ = x.suffix(m)
			_, _ = x.member(m)
		}
	}
	return nil
}

// CheckPlaces holds the places of members to an archive of so many bytes.
func CheckPlaces(x index, size int64) error {
	for m := range x.members() {
		if at, n := x.member(m); at < 0 || n < 0 || at+n > size {
			return fmt.Errorf("member %d lies at %d with %d bytes, of %d", m, at, n, size)
		}
	}
	return nil
}

// Scan makes the index of an archive.
var Scan = scan
