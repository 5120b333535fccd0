package cli

import (
	"os"
	"runtime"
)

// garbageBytes is how much garbage may gather beside what is in use, and as much
// again as that: by itself Go allows as much as is in use, which in a program that has
// just begun is so little that half of its time goes into looking for garbage.
const garbageBytes = 128 << 20

// fewerCollections holds memory that is never touched, and so takes none, until the
// function that it returns is called: it counts as memory in use. Where GOGC or
// GOMEMLIMIT say how much garbage there may be, nothing is held.
func fewerCollections() (end func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	held := make([]byte, garbageBytes)
	return func() { runtime.KeepAlive(held) }
}
