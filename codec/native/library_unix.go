//go:build (linux || darwin) && (amd64 || arm64) && !larder_static

package native

import "github.com/ebitengine/purego"

// ulong is unsigned long of C.
type ulong = uint64

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
