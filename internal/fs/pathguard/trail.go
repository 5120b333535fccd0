package pathguard

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is the most links on a path, as in Linux.
const maxLinks = 40

// Resolve follows the links in as much of a path as exists.
func Resolve(path string) string {
	_, end := ResolveLinks(path)
	return end
}

// ResolveLinks follows the links in as much of a path as exists. It returns the location of
// each link and the final path; no directory in the returned paths is a link. As for
// the system, .. after a link is the parent of the link's target.
func ResolveLinks(path string) (links []string, end string) {
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

// names splits a path at its separators without cleaning it: the meaning of .. after a
// link depends on the link's target.
func names(path string) (names []string) {
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if name != "." {
			names = append(names, name)
		}
	}
	return names
}

// Inside reports whether path is dir or is inside it, by name.
func Inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// sameFolded reports whether the last elements of two paths differ at most in case.
func sameFolded(a, b string) bool { return strings.EqualFold(filepath.Base(a), filepath.Base(b)) }
