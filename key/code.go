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

// A Code identifies the code of an operation. Results of another code are
// never taken for its own.
type Code struct {
	Kind string // how the identity was got: "version", "source", "program" or "build"
	ID   string
	// Package is whose version it is: versions of two packages, or of two
	// programs, have nothing to do with each other.
	Package string
}

// String returns kind and identity: "version 3".
func (c Code) String() string { return c.Kind + " " + c.ID }

// Version identifies code by a version that its author changes whenever the
// results change. It is a version of the package that calls Version, which for
// a main package is the path that it is built from: operations of equal names
// and versions in two packages or programs do not take each other's results.
func Version(v string) Code { return Code{Kind: "version", ID: v, Package: executable.Caller(0)} }

// VersionOf is [Version] for a package that is given by its import path: for
// programs that share results on purpose, and for packages that others call to
// name their code.
func VersionOf(pkg, v string) Code { return Code{Kind: "version", ID: v, Package: pkg} }

// IsZero reports whether nothing is said: then the code is known by its source.
func (c Code) IsZero() bool { return c == Code{} }

// Build identifies code by the running executable: coarse, as any change of
// the program gives another identity, but never stale. It is the build ID that
// the Go command gave it, or the digest of the file where it has none, or one
// that somebody set.
//
// On Linux the file is the running one even if another has taken its place, and that
// of the library where this code is in one. Elsewhere it is found by its path. Shared
// libraries that the program loads are not covered.
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

// buildID returns the Go command's build ID of an executable in ELF form, and
// "" for others. It names the inputs of the build and, when it was installed,
// the content of the result.
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

// ofGo reports whether a build ID is of the kind that the Go command makes: two
// digests of what an executable is made from, and two of what came out. One that
// was set by a flag says nothing.
func ofGo(id string) bool {
	parts := strings.Split(id, "/")
	return len(parts) == 4 && !slices.ContainsFunc(parts, func(p string) bool {
		b, err := base64.RawURLEncoding.DecodeString(p)
		return err != nil || len(b) != 15
	})
}

// openExecutable opens the file that the running code is in.
func openExecutable() (*os.File, error) {
	if path := executable.File(); path != "" {
		return os.Open(path) // of which nothing is there if it was replaced: it is called "... (deleted)"
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
