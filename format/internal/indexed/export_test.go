package indexed

import (
	"testing"
	"time"
)

// Later has files taken for older, until a test is over.
func Later(t testing.TB, by time.Duration) {
	before := now
	now = func() time.Time { return before().Add(by) }
	t.Cleanup(func() { now = before })
}
