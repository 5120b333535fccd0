package blockcache

import (
	"testing"
	"time"
)

// WaryFor sets for how long what lies beside something that could not be had is left alone, until a
// test is over.
func WaryFor(t testing.TB, d time.Duration) {
	before := wary
	wary = d
	t.Cleanup(func() { wary = before })
}

// CopyAtMost has copies be made of files up to a size, until a test is over.
func CopyAtMost(t testing.TB, n int64) {
	before := mostCopied
	mostCopied = n
	t.Cleanup(func() { mostCopied = before })
}
