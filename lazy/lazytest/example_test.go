package lazytest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/larder-data/larder/lazy"
	"github.com/larder-data/larder/lazy/lazytest"
)

// tb represents the testing.TB of the calling test; here it prints.
type tb struct{ testing.TB }

func (tb) Helper()                           {}
func (tb) Context() context.Context          { return context.Background() }
func (tb) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// A value that matches its pin passes; one that does not is named.
func ExampleCheck() {
	half := lazy.Func1("half", func(_ context.Context, x int) (int, error) {
		return x / 2, nil
	}, lazy.Options{Version: "1"})
	pinned := lazytest.Golden{Result: "d1-f0a0278e4372459cca6159cd5e71cfee638302a7b9ca9b05c34181ac0a65ac5d"}
	var t tb
	lazytest.Check(t, "half of 8", half(lazy.Of(8)), pinned)
	lazytest.Check(t, "half of 2", half(lazy.Of(2)), pinned)
	// Output:
	// half of 2: result d1-7c9fa136d4413fa6173637e883b6998d32e1d675f88cddff9dcbcf331820f4b8, pinned as d1-f0a0278e4372459cca6159cd5e71cfee638302a7b9ca9b05c34181ac0a65ac5d; pin it again if the change is intended
}
