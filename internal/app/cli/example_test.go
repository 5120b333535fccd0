package cli_test

import (
	"fmt"
	"os"

	"github.com/larder-data/larder/internal/app/cli"
)

// The command line is a function: arguments in, an exit status out. A program
// that registers components of its own calls it from its main.
func ExampleMain() {
	status := cli.Main([]string{"components", "reverse"}, os.Stdout, os.Stderr)
	fmt.Println("status", status)
	// Output:
	// op: reverse
	// Passes on the samples from the last to the first.
	// status 0
}
