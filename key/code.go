package key

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// A Code identifies the code of an operation. Results of another code are
// never taken for its own.
type Code struct {
	Kind string // how the identity was got: "version", "source" or "build"
	ID   string
}

// String returns kind and identity: "version 3".
func (c Code) String() string { return c.Kind + " " + c.ID }

// Version identifies code by a version that its author changes whenever the
// results change.
func Version(v string) Code { return Code{Kind: "version", ID: v} }

// Build identifies code by the running executable: coarse, as any change of
// the program gives another identity, but never stale. It is the build ID that
// the Go command gave it, or the digest of the file where it has none.
//
// On Linux the file is the running one even if another has taken its place.
// Elsewhere it is found by its path. Shared libraries that the program loads
// are not covered.
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
	return strings.TrimRight(string(b[head:]), "\x00")
}

func openExecutable() (*os.File, error) {
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
