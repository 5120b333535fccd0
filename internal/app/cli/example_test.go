package cli_test

import (
	"fmt"
	"os"

	"github.com/larder-data/larder/internal/app/cli"
)

// The command line is a function from arguments to an exit status. A program that registers
// its own components calls it from main.
func ExampleMain() {
	status := cli.Main([]string{"components", "reverse"}, os.Stdout, os.Stderr)
	fmt.Println("status", status)
	// Output:
	// op: reverse
	// Reverses the order of the samples.
	// status 0
}
