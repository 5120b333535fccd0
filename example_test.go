package larder_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// A function's result is kept across runs, and computed once by all processes
// that share the folder.
func ExampleDo() {
	dir, err := os.MkdirTemp("", "larder")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 2 { // two runs of a program
		l, err := larder.Open(larder.Options{Dir: dir})
		if err != nil {
			log.Fatal(err)
		}
		a, err := key.NewAction("shout", key.Version("1"), "hello")
		if err != nil {
			log.Fatal(err)
		}
		v, err := larder.Do(context.Background(), l, a, func(context.Context) (string, error) {
			fmt.Println("computing")
			return strings.ToUpper("hello"), nil
		})
		fmt.Println(v, err)
		if err := l.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// computing
	// HELLO <nil>
	// HELLO <nil>
}
