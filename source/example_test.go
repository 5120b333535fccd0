package source_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/larder-data/larder/source"
)

// A function is found by its value. If its package has registered its sources (//go:embed *.go and source.Register),
// Identify identifies it by all code that it can reach. This package has not.
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
