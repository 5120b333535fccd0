package indexed

import (
	"testing"
	"time"
)

// Later makes files count as older, for one test.
func Later(t testing.TB, by time.Duration) {
	before := now
	now = func() time.Time { return before().Add(by) }
	t.Cleanup(func() { now = before })
}
