package source_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/larder-data/larder/source"
)

// A function is found by its value. Where its package has registered its sources
// (//go:embed *.go and source.Register), Identify names it by all that it can
// reach; this one has not.
func ExampleIdentify() {
	f, err := source.FunctionOf(strings.ToUpper)
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Name(), f.Registered())
	_, err = source.Identify(f, source.Declared{})
	fmt.Println(errors.Is(err, source.ErrNotRegistered))
	// Output:
	// strings.ToUpper false
	// true
}
