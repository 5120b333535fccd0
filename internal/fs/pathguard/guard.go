// Package pathguard keeps what is read from being written.
//
// [Inputs] are the files and folders that a piece of work reads. An [Output] is
// a place that it is about to write. [Inputs.Check] refuses an output that is an
// input, lies in one or holds one, under whatever name: links are followed from
// one to the next, in the folders above and in what lies in a folder that is
// read, and each of the links on the way counts as read, too. A folder is known
// by what it is, so that names that differ in case and bind mounts do not
// matter. An overlay is its layers, too: the upper one is written where it is,
// and all of them are read.
//
// A place may be a URL: see [Inputs.Check] and [Apart], which know these by how they are spelled.
//
// Hard links are no way to an input as long as what is written is a new file
// that then takes its name: the other names keep the old one.
package pathguard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// An Input is a file or folder that is read.
type Input struct {
	Who  string // reads it: node letters, --vars
	Path string // or a URL, as which it is read; then nothing but Who and this counts
	// Entry says that of a folder only the name counts: it may be written
	// into, but not replaced.
	Entry bool
	// Shallow says that no links in the folder lead to what is read.
	Shallow bool
	// Flat says that links in the folder do, and none in the folders below.
	Flat bool
	// Files, if not nil, tells of files that are named in the one at Path.
	Files func(ctx context.Context, tell func(path string) error) error
}

// An Output is a file or folder that is about to be written.
type Output struct {
	Who  string // writes it: node out, --report
	Path string // or a URL
	// Files says that of a folder only files are written, which are checked
	// each by itself: it may hold what is read.
	Files bool
	// Shallow spares to look for links to what lies in the folder.
	Shallow bool
	// Itself says that a link at Path is replaced, and not what it leads to.
	Itself bool
	// Shared says that files are added to the folder at Path, to which others may add
	// theirs. It matters to [Apart] alone, as Single does.
	Shared bool
	// Single says that it is one file that is written at Path, whatever Files says.
	Single bool
	// Split says that there are several files also where what is written is one dataset.
	Split bool
}

// Place is the path that is written: Path with links followed, but for one at
// Path itself where that is replaced. A URL is one.
func (o Output) Place() string {
	if urlpath.Is(o.Path) {
		return o.Path
	}
	if o.Itself {
		return filepath.Join(Resolve(filepath.Dir(o.Path)), filepath.Base(o.Path))
	}
	return Resolve(o.Path)
}

// ErrConflict is wrapped by the errors of outputs that are inputs.
var ErrConflict = errors.New("what is read is never written; choose another place")

// ErrSpecial is wrapped by the errors of outputs that are devices, pipes or
// sockets.
var ErrSpecial = errors.New("only files and folders are written; choose another place")

// Inputs are what is read. The zero value reads nothing, and so does nil. They
// may be checked by many goroutines once all are added.
type Inputs struct {
	list []Input

	mu      sync.Mutex
	allowed map[allowed]bool
}

// allowed is an output that was checked: its path without links, whether only
// files in it are written, and whether it was there.
type allowed struct {
	path         string
	files, there bool
}

// Add adds an input.
func (in *Inputs) Add(inputs ...Input) { in.list = append(in.list, inputs...) }

// List returns what was added.
func (in *Inputs) List() []Input {
	if in == nil {
		return nil
	}
	return in.list
}

// Check refuses outputs that are, lie in, or hold an input, with an error that
// names both and wraps [ErrConflict]. Folders that hold mount points are refused
// as well: to replace them is to remove what lies on another file system. So are
// devices, pipes and sockets, with an error that wraps [ErrSpecial].
//
// Where outputs are there already, the folders that are read are gone through
// once, by names only, to find links that lead to them. What was checked once is
// not checked again unless links lead it elsewhere by now, or something has come
// to be there.
func (in *Inputs) Check(ctx context.Context, outputs ...Output) error {
	here, far := divide(outputs)
	if err := in.checkFar(far); err != nil {
		return err
	}
	c := newCheck(ctx)
	for _, o := range here {
		t := c.target(o, o.Place())
		if err := t.isSpecial(); err != nil {
			return err
		}
		if !in.was(t.allowed()) {
			for _, at := range c.places(t.real, true) {
				c.targets = append(c.targets, c.target(o, at))
			}
		}
	}
	if len(c.targets) == 0 {
		return nil
	}
	for _, t := range c.targets {
		if err := t.holdsMount(c.mounts); err != nil {
			return err
		}
	}
	for _, i := range in.List() {
		if urlpath.Is(i.Path) {
			continue
		}
		if err := c.input(i); err != nil {
			return err
		}
	}
	in.allow(c.targets)
	return nil
}

func (in *Inputs) was(a allowed) bool {
	if in == nil {
		return false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.allowed[a]
}

func (in *Inputs) allow(all []*target) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.allowed == nil {
		in.allowed = map[allowed]bool{}
	}
	for _, t := range all {
		in.allowed[t.allowed()] = true
	}
}

// check is one check of some outputs.
type check struct {
	ctx      context.Context
	mounts   []mount
	overlays []overlay
	targets  []*target
	deep     bool // links in folders matter: some output is there
	folders  map[string]folder
}

// folder is what is known of a folder that a link names.
type folder struct {
	real  string
	above []os.FileInfo // and itself
	err   error         // it is, or leads through, an output
}

func newCheck(ctx context.Context) *check {
	all := mounts()
	return &check{ctx: ctx, mounts: all, overlays: overlays(all), folders: map[string]folder{}}
}

// target is an output, found on disk.
type target struct {
	Output
	real  string
	info  os.FileInfo   // nil if there is nothing
	above []os.FileInfo // of the folders that it lies in, and its own
}

func (t *target) allowed() allowed { return allowed{t.real, t.Files, t.info != nil && !t.Shallow} }

func (c *check) target(o Output, real string) *target {
	t := &target{Output: o, real: real}
	t.info, _ = os.Lstat(t.real)
	t.above = c.above(t.real)
	if t.info != nil && !o.Shallow {
		c.deep = true
	}
	return t
}

// isSpecial refuses what is there and neither a file nor a folder: to put one in
// its place is to take it from those who use it.
func (t *target) isSpecial() error {
	if t.info == nil || t.info.Mode().Type()&^(fs.ModeDir|fs.ModeSymlink) == 0 {
		return nil
	}
	return fmt.Errorf("refusing to write to %s (%s): it is no file but %s (%w)", display.Name(t.Path), t.Who, special(t.info.Mode()), ErrSpecial)
}

// special is what is there that is neither a file nor a folder.
func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "something else"
}

// holdsMount refuses a folder in which something is mounted.
func (t *target) holdsMount(all []mount) error {
	if t.Files || t.Shallow {
		return nil
	}
	for _, m := range all {
		if m.path != t.real && Inside(t.real, m.path) {
			return fmt.Errorf("refusing to write to %s (%s): at %s another file system is mounted; unmount it, or choose another place", display.Name(t.Path), t.Who, display.Name(m.path))
		}
	}
	return nil
}

// above lists the folders that a real path lies in, and what is there itself,
// as far as they exist: by its name, and by what bind mounts lead back to.
func (c *check) above(real string) (all []os.FileInfo) {
	paths := []string{real}
	if first := original(real, c.mounts); first != real {
		paths = append(paths, first)
	}
	for _, path := range paths {
		for ; ; path = filepath.Dir(path) {
			if info, err := os.Lstat(path); err == nil {
				all = append(all, info)
			}
			if path == filepath.Dir(path) {
				break
			}
		}
	}
	return all
}

// input holds the outputs against one input.
func (c *check) input(i Input) error {
	links, end := Trail(i.Path)
	for _, link := range links {
		if err := c.entry(i, link, link); err != nil {
			return err
		}
	}
	if err := c.place(i, end); err != nil {
		return err
	}
	for _, m := range c.mounts {
		if !i.Entry && m.path != end && Inside(end, m.path) {
			if err := c.place(i, m.path); err != nil {
				return err
			}
		}
	}
	if !c.deep {
		return nil
	}
	if !i.Entry && !i.Shallow {
		if err := c.walk(i, end); err != nil {
			return err
		}
	}
	if i.Files == nil {
		return nil
	}
	return i.Files(c.ctx, func(path string) error { return c.name(i, path) })
}

// place holds the outputs against what an input comes to, and against the layers
// of that.
func (c *check) place(i Input, real string) error {
	for _, at := range c.places(real, false) {
		if err := c.onePlace(i, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) onePlace(i Input, real string) error {
	info, err := os.Lstat(real)
	above := c.above(real)
	for _, t := range c.targets {
		within := t.real == real || !i.Entry && Inside(real, t.real)
		if err == nil && info.IsDir() {
			within = within || t.info != nil && os.SameFile(info, t.info) || !i.Entry && holds(t.above, info)
		}
		if within || t.holds(real, above) || t.is(real, info) {
			return t.refuse(i, i.Path, real)
		}
	}
	return nil
}

// entry holds the outputs against a name, a link or a file, that is needed.
// shown is what is said to lead there.
func (c *check) entry(i Input, real, shown string) error {
	for _, at := range c.places(real, false) {
		if err := c.oneEntry(i, at, shown); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) oneEntry(i Input, real, shown string) error {
	info, _ := os.Lstat(real)
	above := c.folder(i, filepath.Dir(real)).above
	for _, t := range c.targets {
		if t.real == real || t.holds(real, above) || t.is(real, info) {
			return t.refuse(i, shown, real)
		}
	}
	return nil
}

// holds reports whether a real path, of which the folders above are known, is
// lost when t is replaced.
func (t *target) holds(real string, above []os.FileInfo) bool {
	if t.Files {
		return false
	}
	return Inside(t.real, real) || t.info != nil && t.info.IsDir() && holds(above, t.info)
}

func holds(above []os.FileInfo, dir os.FileInfo) bool {
	return slices.ContainsFunc(above, func(a os.FileInfo) bool { return os.SameFile(a, dir) })
}

// is reports whether t is the file at a real path under another spelling of its
// name. Another name of the file in another folder is another matter: what is
// written is a new file.
func (t *target) is(real string, info os.FileInfo) bool {
	if t.info == nil || info == nil || !os.SameFile(t.info, info) {
		return false
	}
	a, erra := os.Lstat(filepath.Dir(t.real))
	b, errb := os.Lstat(filepath.Dir(real))
	return info.IsDir() || erra == nil && errb == nil && os.SameFile(a, b) && sameFolded(t.real, real)
}

func (t *target) refuse(i Input, named, real string) error {
	via := ""
	if named != i.Path {
		via = fmt.Sprintf(", which leads through %s", display.Name(named))
	}
	if real != named {
		via += fmt.Sprintf(" to %s", display.Name(real))
		if named == i.Path {
			via = fmt.Sprintf(", which is %s", display.Name(real))
		}
	}
	return fmt.Errorf("refusing to write to %s (%s): %s reads %s%s (%w)", display.Name(t.Path), t.Who, i.Who, display.Name(i.Path), via, ErrConflict)
}

// walk looks at the links in a folder and in those below. Links to folders are
// not followed: a source that does names them.
func (c *check) walk(i Input, dir string) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	var below []string
	err := eachEntry(dir, func(e fs.DirEntry) error {
		switch {
		case e.IsDir() && i.Flat:
		case e.IsDir():
			below = append(below, e.Name())
		case e.Type()&fs.ModeSymlink != 0:
			path := filepath.Join(dir, e.Name())
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				return nil
			}
			return c.name(i, path)
		}
		return nil
	})
	for _, name := range below {
		if err != nil {
			return err
		}
		err = c.walk(i, filepath.Join(dir, name))
	}
	return err
}

// name holds the outputs against a file that is read under a name: the name, all
// links that it leads through, and the file.
func (c *check) name(i Input, path string) error {
	for range maxLinks {
		dir, base := filepath.Split(path)
		f := c.folder(i, dir)
		if f.err != nil {
			return f.err
		}
		real := filepath.Join(f.real, base)
		if err := c.entryIn(i, f, real, path); err != nil {
			return err
		}
		for _, at := range c.places(real, false)[1:] {
			if err := c.oneEntry(i, at, path); err != nil {
				return err
			}
		}
		to, err := os.Readlink(real)
		if err != nil {
			return nil //nolint:nilerr // it is no link, or not there
		}
		if path = to; !filepath.IsAbs(to) {
			path = f.real + string(filepath.Separator) + to // not cleaned: what .. means depends on links
		}
	}
	return nil
}

// entryIn is entry for a file in a folder that is known.
func (c *check) entryIn(i Input, f folder, real, shown string) error {
	for _, t := range c.targets {
		if t.real == real || t.holds(real, f.above) {
			return t.refuse(i, shown, real)
		}
		if t.info != nil && !t.info.IsDir() && sameFolded(t.real, real) {
			if info, err := os.Lstat(real); err == nil && t.is(real, info) {
				return t.refuse(i, shown, real)
			}
		}
	}
	return nil
}

// maxFolders bounds the folders that are remembered.
const maxFolders = 4096

// folder finds out about a folder that is named on the way to a file.
func (c *check) folder(i Input, dir string) folder {
	if f, ok := c.folders[dir]; ok {
		return f
	}
	links, end := Trail(dir)
	f := folder{real: end, above: c.above(end)}
	if len(c.folders) >= maxFolders {
		clear(c.folders)
	}
	c.folders[dir] = f
	for _, link := range links {
		if f.err == nil {
			f.err = c.entry(i, link, link)
		}
	}
	c.folders[dir] = f
	return f
}

// eachEntry calls f for the entries of a folder. What cannot be listed is not
// read either.
func eachEntry(dir string, f func(fs.DirEntry) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(1024)
		for _, e := range entries {
			if err := f(e); err != nil {
				return err
			}
		}
		if err != nil {
			return nil //nolint:nilerr // it ends
		}
	}
}
