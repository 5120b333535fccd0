package key_test

import (
	"fmt"

	"github.com/larder-data/larder/key"
)

type Options struct {
	Model Model
	Times int
}

type Model struct{ Size int }

func Example() {
	predict, err := key.NewOp("predict", key.Version("3"), key.Param{Name: "device", Value: "cpu"})
	if err != nil {
		panic(err)
	}
	before, _ := predict.Call(Options{Model{Size: 7}, 2}, "letters")
	after, _ := predict.Call(Options{Model{Size: 8}, 2}, "letters")
	fmt.Println(before.Key() == after.Key())
	for _, change := range key.Diff(before.Parts(), after.Parts()) {
		fmt.Println(change)
	}
	// Output:
	// false
	// Options.Model.Size: changed (7 -> 8)
}

func ExampleOf_unkeyable() {
	type Hooks struct{ Done func() }
	_, err := key.Of([]Hooks{{}})
	fmt.Println(err)
	// Output:
	// []key_test.Hooks[].Done: func value cannot be keyed; implement key.Keyer or exclude it with the tag key:"-"
}
