// Package cli provides the command line of Larder to programs that register components of
// their own (package component):
//
//	func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
package cli

import (
	"io"

	"github.com/larder-data/larder/internal/app/cli"
)

// Main runs the command line and returns its exit status: 0 if all is well, 1 if the work
// failed, 2 if the request was wrong, and 130 if the program was interrupted. Results go to
// stdout; progress, warnings and errors go to stderr. Main handles the signals of the process,
// so only one may run at a time. It closes what it opens before it returns.
func Main(args []string, stdout, stderr io.Writer) int { return cli.Main(args, stdout, stderr) }
