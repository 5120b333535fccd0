//go:build (linux || darwin || windows) && (amd64 || arm64) && !larder_static

package native

import (
	"strings"
	"unsafe"
)

// unset returns n uninitialized bytes, at least one, for a library to overwrite. Clearing
// them would take a tenth of the decoding time.
func unset(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
