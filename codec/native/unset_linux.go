//go:build (amd64 || arm64) && !larder_static

package native

import (
	"strings"
	"unsafe"
)

// unset returns n bytes, one at least, that may be anything: a library is about to write
// all of them. To have them set to 0 first takes a tenth of the time in which it does.
func unset(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
