package larder_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

func shout(dir, text string) (v string, err error) {
	l, err := larder.Open(larder.Options{Dir: dir})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	a, err := key.NewAction("shout", key.Version("1"), text)
	if err != nil {
		return "", err
	}
	return larder.Do(context.Background(), l, a, func(context.Context) (string, error) {
		fmt.Println("computing")
		return strings.ToUpper(text), nil
	})
}

// Cache a function's result across runs. All processes that share the directory compute it once.
func ExampleDo() {
	dir, err := os.MkdirTemp("", "larder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for range 2 { // two runs of a program
		v, err := shout(dir, "hello")
		fmt.Println(v, err)
	}
	// Output:
	// computing
	// HELLO <nil>
	// HELLO <nil>
}
