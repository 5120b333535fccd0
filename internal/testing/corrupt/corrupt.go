// Package corrupt provides ways to damage files, for tests of robustness: each kind of
// file in a directory, in each of its parts, in each way.
package corrupt

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// A Harm is one way to damage a file of one kind.
type Harm struct {
	kind string
	way  way
}

// way damages the file at a path, which has the content b, and describes the damage.
type way func(random *rand.Rand, path string, b []byte) (what string, err error)

const (
	flips = 8 // parts of a file; one harm flips a bit in each
	cuts  = 4 // parts of a file; one harm truncates it in each
)

// Each returns every harm to a directory once.
func Each(tb testing.TB, dir string) (all []Harm) {
	tb.Helper()
	seen := map[string]bool{}
	now := Remember(tb, dir).files
	for _, name := range slices.Sorted(maps.Keys(now)) {
		f := now[name]
		kind := kindOf(name, f.mode)
		if f.mode.IsDir() || seen[kind] {
			continue
		}
		seen[kind] = true
		ways := []way{garbage, directory, removed}
		if len(f.content) > 0 {
			ways = append(ways, inParts(flips, flip)...)
			ways = append(ways, inParts(cuts, cut)...)
		}
		for _, w := range ways {
			all = append(all, Harm{kind, w})
		}
	}
	return all
}

// Any does a random harm to a directory, and describes the damage.
func Any(tb testing.TB, dir string, random *rand.Rand) (what string) {
	tb.Helper()
	all := Each(tb, dir)
	return all[random.IntN(len(all))].Do(tb, dir, random)
}

// Do damages one of the directory's files of the kind, and describes the damage. There
// must be such a file.
func (h Harm) Do(tb testing.TB, dir string, random *rand.Rand) (what string) {
	tb.Helper()
	var names []string
	now := Remember(tb, dir).files
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if f := now[name]; !f.mode.IsDir() && kindOf(name, f.mode) == h.kind {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		tb.Fatalf("%s has no file of the kind %s", dir, h.kind)
	}
	name := names[random.IntN(len(names))]
	path := filepath.Join(dir, name)
	what, err := h.way(random, path, bytes.Clone(now[name].content))
	if err != nil {
		tb.Fatal(err)
	}
	return name + ": " + what
}

var digits = regexp.MustCompile(`\b([0-9a-f]{2}|[0-9a-f]{16,})\b`)

// kindOf returns a name without the parts that differ between files of one kind.
func kindOf(name string, mode os.FileMode) string {
	kind := digits.ReplaceAllString(filepath.ToSlash(name), "*")
	if mode&0o222 == 0 {
		kind += ", read-only"
	}
	return kind
}

// inParts returns a way for each part of a file.
func inParts(parts int, do func(at int, random *rand.Rand, path string, b []byte) (string, error)) (ways []way) {
	for part := range parts {
		ways = append(ways, func(random *rand.Rand, path string, b []byte) (string, error) {
			if len(b) == 0 {
				return "is empty", nil
			}
			from, to := len(b)*part/parts, len(b)*(part+1)/parts
			return do(min(from+random.IntN(max(1, to-from)), len(b)-1), random, path, b)
		})
	}
	return ways
}

func flip(at int, random *rand.Rand, path string, b []byte) (string, error) {
	b[at] ^= 1 << random.IntN(8)
	return fmt.Sprintf("a bit of byte %d of %d flipped", at, len(b)), write(path, b)
}

func cut(at int, _ *rand.Rand, path string, b []byte) (string, error) {
	return fmt.Sprintf("%d bytes cut to %d", len(b), at), write(path, b[:at])
}

func garbage(random *rand.Rand, path string, b []byte) (string, error) {
	for range 300 {
		b = append(b, byte(random.Uint32()))
	}
	return "garbage after it", write(path, b)
}

func directory(_ *rand.Rand, path string, _ []byte) (string, error) {
	return "a directory instead", errors.Join(os.Remove(path), os.Mkdir(path, 0o777))
}

func removed(_ *rand.Rand, path string, _ []byte) (string, error) {
	return "removed", os.Remove(path)
}

// write changes a file in place, even if it is read-only.
func write(path string, b []byte) error {
	return errors.Join(os.Chmod(path, 0o666), os.WriteFile(path, b, 0o666))
}
