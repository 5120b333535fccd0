package cli

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/larder-data/larder/flow"
)

// TestLateWarnings checks that an abandoned computation may warn while the log is closed,
// and afterwards.
func TestLateWarnings(t *testing.T) {
	l, err := openEvents(filepath.Join(t.TempDir(), "events"))
	if err != nil {
		t.Fatal(err)
	}
	warn := func() { l.observe(flow.Event{Event: flow.Warning}) }
	var late sync.WaitGroup
	late.Go(warn)
	if err := l.close(); err != nil {
		t.Error(err)
	}
	late.Wait()
	warn()
	if l.err != nil {
		t.Error(l.err)
	}
}
