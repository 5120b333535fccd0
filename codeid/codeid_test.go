package codeid_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/larder-data/larder/codeid"
)

var limit = 1

var files = fstest.MapFS{"a.go": {Data: []byte("package a")}}

// TestRegister checks that packages are listed in the order of their registration, with their caller and with all their
// options.
func TestRegister(t *testing.T) {
	before := len(codeid.Packages())
	first := codeid.Register(files)
	second := codeid.Register(files, codeid.Options{Pure: []string{"time.Now"}}, codeid.Options{Pure: []string{"os"}, Inputs: []any{&limit}})
	all := codeid.Packages()[before:]
	if len(all) != 2 || all[0] != first || all[1] != second {
		t.Fatalf("registered: %v", all)
	}
	if !strings.HasSuffix(first.Symbol, "codeid_test.TestRegister") || !strings.HasSuffix(first.File, "codeid_test.go") {
		t.Errorf("registered by %s in %s", first.Symbol, first.File)
	}
	if want := (codeid.Options{Pure: []string{"time.Now", "os"}, Inputs: []any{&limit}}); !reflect.DeepEqual(second.Options, want) {
		t.Errorf("the options are %v, want %v", second.Options, want)
	}
}
