package key

import (
	"context"
	"debug/elf"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/internal/values/executable"
)

// A Code identifies the code of an operation. Operations with different codes never
// share results.
type Code struct {
	Kind string // origin of ID: "version", "source", "program" or "build"
	ID   string
	// Package is the scope of a version: equal versions of two packages, or of two
	// programs, are unrelated.
	Package string
}

// String returns kind and identity: "version 3".
func (c Code) String() string { return c.Kind + " " + c.ID }

// Version identifies code by a version that its author changes whenever the results
// change. The version belongs to the package that calls Version; a main package is
// identified by its import path. So operations with equal names and versions in two
// packages or programs do not share results.
func Version(v string) Code { return Code{Kind: "version", ID: v, Package: executable.Caller(0)} }

// VersionOf is [Version] for the package with the given import path. It is for programs
// that share results on purpose, and for packages that others call to identify their
// code.
func VersionOf(pkg, v string) Code { return Code{Kind: "version", ID: v, Package: pkg} }

// IsZero reports whether c is empty. The code is then identified by its source.
func (c Code) IsZero() bool { return c == Code{} }

// Build identifies code by the running executable. This is coarse, because any change
// of the program changes the identity, but never stale. The identity is the build ID of
// the Go command. It is the digest of the file if there is no such ID, or if a flag set
// it.
//
// On Linux Build reads the running file even if another has replaced it, or the file of
// the shared library that contains this code. Elsewhere Build finds the file by its
// path. Build does not cover shared libraries that the program loads.
func Build() (Code, error) { return build() }

var build = sync.OnceValues(func() (Code, error) {
	f, err := openExecutable()
	if err != nil {
		return Code{}, fmt.Errorf("key: identify the running executable: %w", err)
	}
	defer f.Close()
	if id := buildID(f); id != "" {
		return Code{Kind: "build", ID: DigestOf([]byte(id)).String()}, nil
	}
	d, _, err := digestReader(context.Background(), f)
	if err != nil {
		return Code{}, fmt.Errorf("key: identify the running executable: %w", err)
	}
	return Code{Kind: "build", ID: d.String()}, nil
})

// buildID returns the Go command's build ID of an ELF executable, and "" for other
// files. The ID covers the inputs of the build and, if the program was installed, the
// content of the executable.
func buildID(f io.ReaderAt) string {
	file, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	s := file.Section(".note.go.buildid")
	if s == nil {
		return ""
	}
	b, err := s.Data()
	const head = 16 // lengths, type, "Go\x00\x00"
	if err != nil || len(b) <= head {
		return ""
	}
	id := strings.TrimRight(string(b[head:]), "\x00")
	if !ofGo(id) {
		return ""
	}
	return id
}

// ofGo reports whether the Go command computed a build ID. Such an ID has two digests
// of the inputs and two of the outputs. An ID that a flag set says nothing about the
// code.
func ofGo(id string) bool {
	parts := strings.Split(id, "/")
	return len(parts) == 4 && !slices.ContainsFunc(parts, func(p string) bool {
		b, err := base64.RawURLEncoding.DecodeString(p)
		return err != nil || len(b) != 15
	})
}

func openExecutable() (*os.File, error) {
	if path := executable.File(); path != "" {
		return os.Open(path) // if it was replaced, path is "... (deleted)" and does not exist
	}
	f, err := os.Open("/proc/self/exe")
	if !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
