// Package mountns provides a mount namespace for the tests of a package, so that their
// mounts are invisible to other processes and end with the tests.
package mountns

import "os"

// inside marks the environment of a process in the namespace.
const inside = "LARDER_TEST_OWN_MOUNTS"

// Enter begins TestMain: it runs this program again in the namespace, and exits with its
// status. It returns in the namespace, and also if the system refuses one, as for
// ordinary users. They cannot mount anything either.
func Enter() {
	if os.Getenv(inside) != "" {
		return
	}
	if status, ok := again(); ok {
		os.Exit(status)
	}
}
