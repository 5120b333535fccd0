// Package mountns gives the tests of a package a mount namespace of their own,
// so that what they mount is gone with them, however they end, and nobody else
// sees it.
package mountns

import "os"

// inside says in the environment that there is a namespace already.
const inside = "LARDER_TEST_OWN_MOUNTS"

// Enter begins TestMain: it runs this program once more, in the namespace, and
// exits as that does. Where the system gives none, as to ordinary users, who
// cannot mount either, it returns, as it does in the namespace.
func Enter() {
	if os.Getenv(inside) != "" {
		return
	}
	if status, ok := again(); ok {
		os.Exit(status)
	}
}
