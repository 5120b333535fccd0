package guard_test

import (
	"os"
	"testing"

	"github.com/larder-data/larder/internal/ownmounts"
)

func TestMain(m *testing.M) {
	ownmounts.Enter()
	os.Exit(m.Run())
}
