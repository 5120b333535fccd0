//go:build (linux || darwin || windows) && (amd64 || arm64) && !larder_static

package native

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// open loads a library. It returns its functions, in the order of names, and its identity:
// the match of version in its bytes, and a digest.
func open(file string, version *regexp.Regexp, names ...string) (functions []uintptr, id string, err error) {
	handle, contents, err := load(file)
	if err != nil {
		return nil, "", fmt.Errorf("native: %w; install the library, or do without it", err)
	}
	for _, name := range names {
		f, err := symbol(handle, name)
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

// inProgramDir returns the path that a file has in the directory of the program.
func inProgramDir(file string) (string, error) {
	program, err := os.Executable()
	return filepath.Join(filepath.Dir(program), file), err
}
