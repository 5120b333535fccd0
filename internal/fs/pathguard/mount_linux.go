package pathguard

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A mount shows a directory of a file system at a path.
type mount struct {
	device  string
	root    string // directory within the file system
	path    string
	kind    string // of the file system
	options string // of the file system, unparsed
}

// mounts lists the mounts in the order of their creation; nil if the system does not
// report them.
func mounts() []mount {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	return readMounts(f)
}

// readMounts parses /proc/PID/mountinfo, as proc(5) describes it.
func readMounts(r io.Reader) (all []mount) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) > 4 {
			m := mount{device: f[2], root: unescape(f[3]), path: unescape(f[4])}
			if i := slices.Index(f, "-"); i >= 0 && len(f) > i+3 { // after optional fields
				m.kind, m.options = f[i+1], f[i+3]
			}
			all = append(all, m)
		}
	}
	return all
}

// unescape replaces \ooo, which represents white space and \.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+4 <= len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// original returns another path for a real path: through the mount that shows most of
// the file system. So it leads from a bind mount to the directory itself. It returns
// path if there is no other.
func original(path string, all []mount) string {
	over := mountOf(path, all)
	if over.path == "" {
		return path
	}
	rel, err := filepath.Rel(over.path, path)
	if err != nil {
		return path
	}
	inner, widest := filepath.Join(over.root, rel), over
	for _, m := range all {
		if m.device == over.device && Inside(m.root, inner) && len(m.root) < len(widest.root) {
			widest = m
		}
	}
	rel, err = filepath.Rel(widest.root, inner)
	if err != nil {
		return path
	}
	found := filepath.Join(widest.path, rel)
	if !sameExisting(found, path) {
		return path // hidden by another mount
	}
	return found
}

// mountOf returns the mount of a path: the innermost, and the last of several at one
// path.
func mountOf(path string, all []mount) (in mount) {
	for _, m := range all {
		if Inside(m.path, path) && len(m.path) >= len(in.path) {
			in = m
		}
	}
	return in
}

// sameExisting reports whether two paths lead to the same file, as far as they exist.
func sameExisting(a, b string) bool {
	for {
		ia, erra := os.Lstat(a)
		ib, errb := os.Lstat(b)
		if erra == nil || errb == nil {
			return erra == nil && errb == nil && os.SameFile(ia, ib)
		}
		if filepath.Dir(a) == a || filepath.Dir(b) == b {
			return false
		}
		a, b = filepath.Dir(a), filepath.Dir(b)
	}
}
