package pathguard

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links a path may lead through, as in Linux.
const maxLinks = 40

// Resolve follows the links in as much of a path as exists.
func Resolve(path string) string {
	_, end := Trail(path)
	return end
}

// Trail follows the links in as much of a path as exists. It returns where each
// of these links lies, and what the path comes to; no folder in the paths that
// it returns is a link. As the system has it, .. after a link is the folder around
// what the link leads to.
func Trail(path string) (links []string, end string) {
	if !filepath.IsAbs(path) {
		dir, err := os.Getwd()
		if err != nil {
			return nil, path
		}
		path = dir + string(filepath.Separator) + path // not cleaned, as the system does not
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest := root, names(path[len(root)-1:])
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, err := os.Readlink(next)
		if err != nil || len(links) == maxLinks {
			at = next
			continue
		}
		links = append(links, next)
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
			to = to[len(at)-1:]
		}
		rest = append(names(to), rest...)
	}
	return links, at
}

// names splits a path at its separators, without cleaning it: what .. means
// after the name of a link is not known before the link is followed.
func names(path string) (names []string) {
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if name != "." {
			names = append(names, name)
		}
	}
	return names
}

// Inside reports whether path is dir or lies in it, by their names.
func Inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// sameFolded reports whether the last names of two paths differ in case at most.
func sameFolded(a, b string) bool { return strings.EqualFold(filepath.Base(a), filepath.Base(b)) }
