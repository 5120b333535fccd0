//go:build (amd64 || arm64) && !larder_static

package native

import "golang.org/x/sys/windows"

const turboFile = "libturbojpeg.dll"

// ulong is unsigned long of C.
type ulong = uint32

// loadPath loads a library. What the library needs comes from the directory of the system.
func loadPath(path string) (uintptr, error) {
	handle, err := windows.LoadLibraryEx(path, 0, windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	return uintptr(handle), err
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}

// pathOf returns the file that a library was loaded from.
func pathOf(handle, _ uintptr) (string, error) {
	path := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetModuleFileName(windows.Handle(handle), &path[0], uint32(len(path)))
	return windows.UTF16ToString(path[:n]), err
}
