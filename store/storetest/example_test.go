package storetest_test

import (
	"testing"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/storetest"
)

// An author of a store tests it with a function that creates an empty medium, and returns a function that opens a store
// on it.
func ExampleRun() {
	testStore := func(t *testing.T) {
		storetest.Run(t, func(testing.TB) func() store.Store {
			s := memory.New(memory.Options{}) // its medium is the store itself
			return func() store.Store { return s }
		})
	}
	_ = testStore // the name of a test begins with a capital T
}
