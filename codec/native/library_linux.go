//go:build (amd64 || arm64) && !larder_static

package native

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/ebitengine/purego"
)

// turboFile is the name of libjpeg-turbo, which is the same for versions 2 and 3.
const turboFile = "libturbojpeg.so.0"

// load loads the library in the directory of the program, else that of the system. A program that is
// installed with a library has the same keys on all machines.
func load(file string) (handle uintptr, contents func(function uintptr) ([]byte, error), err error) {
	if path, err := inProgramDir(file); err == nil {
		if _, err := os.Stat(path); err == nil {
			file = path // one that is damaged is not replaced silently: keys would differ
		}
	}
	handle, err = purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	return handle, mapped, err
}

// mapped returns the file from which code at an address is mapped.
func mapped(at uintptr) ([]byte, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		low, high, _ := strings.Cut(fields[0], "-")
		from, err1 := strconv.ParseUint(low, 16, 64)
		to, err2 := strconv.ParseUint(high, 16, 64)
		if err1 != nil || err2 != nil || uint64(at) < from || uint64(at) >= to {
			continue
		}
		path := line[strings.IndexByte(line, '/') : len(line)-1] // may contain blanks
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || strconv.FormatUint(s.Ino, 10) != fields[4] {
			return nil, errors.New("the file was replaced after it was loaded")
		}
		return b, nil
	}
	return nil, errors.New("no mapped file at the address")
}
