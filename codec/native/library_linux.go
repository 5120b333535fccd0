//go:build (amd64 || arm64) && !larder_static

package native

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/ebitengine/purego"
)

// open loads a library. It returns its functions, in the order of names, and its identity:
// the match of version in its bytes, and a digest.
func open(file string, version *regexp.Regexp, names ...string) (functions []uintptr, id string, err error) {
	handle, err := load(file)
	if err != nil {
		return nil, "", fmt.Errorf("native: %w; install the library, or do without it", err)
	}
	for _, name := range names {
		f, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, "", fmt.Errorf("native: %s is too old: %w", file, err)
		}
		functions = append(functions, f)
	}
	b, err := contents(functions[0])
	if err != nil {
		return nil, "", fmt.Errorf("native: %s: %w", file, err)
	}
	sum := sha256.Sum256(b)
	id = hex.EncodeToString(sum[:8])
	if m := version.FindSubmatch(b); m != nil {
		id = string(m[1]) + "-" + id
	}
	return functions, id, nil
}

// load loads the library adjacent the program, else that of the system. A program that is
// installed with a library has the same keys on all machines.
func load(file string) (uintptr, error) {
	const mode = purego.RTLD_NOW | purego.RTLD_LOCAL
	if program, err := os.Executable(); err == nil {
		adjacent := filepath.Join(filepath.Dir(program), file)
		if _, err := os.Stat(adjacent); err == nil {
			return purego.Dlopen(adjacent, mode) // one that is damaged is not replaced silently: keys would differ
		}
	}
	return purego.Dlopen(file, mode)
}

// contents returns the file from which code at an address is mapped.
func contents(at uintptr) ([]byte, error) {
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
