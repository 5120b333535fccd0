package pathguard

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/larder-data/larder/internal/text/display"
)

// CheckDisjoint refuses outputs of one run that conflict: two with one path, or one inside the
// other. Directories to which files are added ([Output.Shared]) may be equal, and
// others may write into a directory of files ([Output.Files]). CheckDisjoint compares paths as
// [Inputs.Check] does. Names that do not exist yet are equal if they differ only in
// case and the file system ignores case. Each URL takes one output.
func CheckDisjoint(outputs ...Output) error {
	here, far := divide(outputs)
	if err := apartFar(far); err != nil {
		return err
	}
	c := newCheck(context.Background()) // it lists no directory
	all := make([]*target, len(here))
	for i, o := range here {
		all[i] = c.target(o, o.Place())
		for _, other := range all[:i] {
			if err := apart(other, all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func apart(a, b *target) error {
	switch aInB, bInA := b.covers(a), a.covers(b); {
	case aInB && bInA:
		if a.Shared && b.Shared && !a.Single && !b.Single {
			return nil
		}
		return fmt.Errorf("%s and %s would both write %s; choose another place for one", a.Owner, b.Owner, a.shown())
	case bInA && a.isWhole():
		return inside(b, a)
	case aInB && b.isWhole():
		return inside(a, b)
	}
	return nil
}

func inside(in, of *target) error {
	return fmt.Errorf("%s would write %s within %s, which %s writes; choose another place for one", in.Owner, in.shown(), of.shown(), of.Owner)
}

// shown returns a path for messages: as given, and resolved.
func (t *target) shown() string {
	if filepath.IsAbs(t.Path) && filepath.Clean(t.Path) != t.real {
		return fmt.Sprintf("%s (%s)", display.Name(t.Path), display.Name(t.real))
	}
	return display.Name(t.Path)
}

// isWhole reports whether everything at the path is written, so that no other output
// can be inside it.
func (t *target) isWhole() bool { return t.Single || !t.Files }

func (t *target) covers(other *target) bool {
	return insideFolded(t.real, other.real) || t.info != nil && t.info.IsDir() && holds(other.above, t.info)
}

// insideFolded is [Inside] for real paths whose missing parts may have two spellings.
func insideFolded(dir, path string) bool {
	if len(path) < len(dir) || !strings.EqualFold(path[:len(dir)], dir) {
		return Inside(dir, path)
	}
	if Inside(dir, path) {
		return true
	}
	if rest := path[len(dir):]; rest != "" && !os.IsPathSeparator(rest[0]) {
		return false
	}
	for i := range dir {
		if dir[i] != path[i] {
			at := strings.LastIndexFunc(dir[:i], func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
			if !folds(dir[:at+1]) {
				return false
			}
			break // subdirectories, too, as they are on one file system
		}
	}
	return true
}

// folds reports whether a directory ignores letter case in names. The directory need
// not exist. folds tests a name in it, or in the nearest parent that has one.
var folds = func(dir string) bool {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		known, is := false, false
		_ = eachEntry(dir, func(e fs.DirEntry) error {
			if known, is = foldsName(dir, e.Name()); known {
				return fs.SkipAll
			}
			return nil
		})
		if known || dir == filepath.Dir(dir) {
			return is
		}
		if known, is = foldsName(filepath.Dir(dir), filepath.Base(dir)); known {
			return is
		}
	}
}

// foldsName reports whether a name in a directory also exists under another case. known
// is false if the name has no letters or does not exist.
func foldsName(dir, name string) (known, is bool) {
	other := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil || other == name {
		return false, false
	}
	as, err := os.Lstat(filepath.Join(dir, other))
	return true, err == nil && os.SameFile(info, as)
}
