//go:build (amd64 || arm64) && !larder_static

package native

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLibraryNextToTheProgram checks that a library next to the program comes before that of the system, and that one
// that cannot be loaded does not.
func TestLibraryNextToTheProgram(t *testing.T) {
	ofSystem := library(t, "jpeg").ID
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(string(regexp.MustCompile(`/\S*/libturbojpeg\.so\S*`).Find(maps)))
	if err != nil {
		t.Fatal(err)
	}
	path, err := inProgramDir(turboFile)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	other := slices.Concat(b, []byte{0})
	sum := sha256.Sum256(other)
	for _, c := range []struct {
		content []byte
		is      func(id string) bool
	}{
		{other, func(id string) bool { return strings.HasSuffix(id, "-"+hex.EncodeToString(sum[:8])) }},
		{[]byte("damaged"), func(id string) bool { return id == ofSystem }},
	} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if l := library(t, "jpeg"); !c.is(l.ID) {
			t.Errorf("next to %d bytes the library is %s, and that of the system %s", len(c.content), l.ID, ofSystem)
		}
	}
}
