package pinned

import (
	"testing"

	"github.com/larder-data/larder/lazy/lazytest"
)

func TestLarderProbe(t *testing.T) {
	lazytest.Print(t, map[string]any{
		"Limit": Limit,
		"Root": Root,
		"twice": twice,
	})
}
