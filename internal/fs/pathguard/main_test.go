package pathguard_test

import (
	"os"
	"testing"

	"github.com/larder-data/larder/internal/testing/mountns"
)

func TestMain(m *testing.M) {
	mountns.Enter()
	os.Exit(m.Run())
}
