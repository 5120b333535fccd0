//go:build (amd64 || arm64) && !larder_static

package native

import (
	"errors"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

const turboFile = "libturbojpeg.0.dylib"

func loadPath(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// pathOf returns the file that a function was loaded from: DYLD_LIBRARY_PATH names others
// even for an absolute path.
func pathOf(_, function uintptr) (string, error) {
	dladdr, err := purego.Dlsym(purego.RTLD_DEFAULT, "dladdr")
	if err != nil {
		return "", err
	}
	var info struct {
		path    *byte
		base    uintptr
		symbol  uintptr
		address uintptr
	}
	if r, _, _ := purego.SyscallN(dladdr, function, uintptr(unsafe.Pointer(&info))); int32(r) == 0 || info.path == nil {
		return "", errors.New("no file has the function")
	}
	return unix.BytePtrToString(info.path), nil
}
