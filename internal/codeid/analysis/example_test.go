package analysis_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/larder-data/larder/internal/codeid/analysis"
)

// A function is found by its value. If its package has registered its sources (//go:embed *.go and codeid.Register),
// Identify identifies it by all code that it can reach. This package has not.
func ExampleIdentify() {
	f, err := analysis.FunctionOf(strings.ToUpper)
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Name(), f.Registered())
	_, err = analysis.Identify(f, analysis.Declared{})
	fmt.Println(errors.Is(err, analysis.ErrNotRegistered))
	// Output:
	// strings.ToUpper false
	// true
}
