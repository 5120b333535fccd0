package block

import "testing"

// CopyAtMost has copies be made of files up to a size, until a test is over.
func CopyAtMost(t testing.TB, n int64) {
	before := mostCopied
	mostCopied = n
	t.Cleanup(func() { mostCopied = before })
}
