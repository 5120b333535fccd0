package blockcache

import (
	"testing"
	"time"
)

// WaryFor sets, for one test, how long blocks next to a failed one are fetched separately.
func WaryFor(t testing.TB, d time.Duration) {
	before := wary
	wary = d
	t.Cleanup(func() { wary = before })
}

// CopyAtMost sets, for one test, the largest file that is copied.
func CopyAtMost(t testing.TB, n int64) {
	before := maxCopied
	maxCopied = n
	t.Cleanup(func() { maxCopied = before })
}
