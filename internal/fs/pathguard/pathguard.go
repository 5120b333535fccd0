// Package pathguard provides checks that outputs do not overwrite inputs.
//
// [Inputs] are the files and directories that a run reads. An [Output] is a path that
// it is about to write. [Inputs.Check] refuses an output that is an input, is inside
// one or contains one, under any name. It follows links, including those in parent
// directories and in input directories, and treats each of them as an input, too. It
// compares directories by identity, so letter case and bind mounts do not matter. For
// an overlay it also checks the layers: all of them for inputs, the upper one for
// outputs.
//
// A path may be a URL. [Inputs.Check] and [CheckDisjoint] compare URLs by their spelling.
//
// Hard links are safe if the output is a new file that then takes its name: the other
// names keep the old one.
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

// An Input is a file or directory that is read.
type Input struct {
	Owner string // its reader: node letters, --vars
	Path  string // or a URL; then only Owner and Path apply
	// Entry means that only the name of a directory is an input: files in it may be
	// written, but it must not be replaced.
	Entry bool
	// Shallow means that no links in the directory lead to inputs.
	Shallow bool
	// Flat means that only links in the directory itself do, not those in
	// subdirectories.
	Flat bool
	// Files, if not nil, reports the files that are named in the one at Path.
	Files func(ctx context.Context, yield func(path string) error) error
}

// An Output is a file or directory that is about to be written.
type Output struct {
	Owner string // its writer: node out, --report
	Path  string // or a URL
	// Files means that only files in the directory are written. They are checked
	// separately, so the directory may contain inputs.
	Files bool
	// Shallow skips the search for links to the contents of the directory.
	Shallow bool
	// Itself means that a link at Path is replaced, not its target.
	Itself bool
	// Shared means that files are added to the directory at Path, to which others may
	// add theirs. It affects [CheckDisjoint] only, as does Single.
	Shared bool
	// Single means that one file is written at Path, whatever Files says.
	Single bool
	// Split means that there are several files even if the output is one dataset.
	Split bool
}

// Place returns the path that is written: Path with links resolved, except a link at
// Path itself that is replaced. It returns a URL as it is.
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
var ErrConflict = errors.New("an input is never overwritten; choose another path")

// ErrSpecial is wrapped by the errors of outputs that are devices, pipes or sockets.
var ErrSpecial = errors.New("only files and directories are written; choose another place")

// Inputs is a set of inputs. The zero value and nil are empty. Concurrent checks are
// safe once all inputs are added.
type Inputs struct {
	list []Input

	mu      sync.Mutex
	allowed map[allowed]bool
}

// allowed is a checked output: its resolved path, whether only files in it are written,
// and whether it existed.
type allowed struct {
	path         string
	files, there bool
}

// Add adds inputs.
func (in *Inputs) Add(inputs ...Input) { in.list = append(in.list, inputs...) }

// List returns the inputs.
func (in *Inputs) List() []Input {
	if in == nil {
		return nil
	}
	return in.list
}

// Check refuses outputs that are, are inside, or contain an input. The error names both
// and wraps [ErrConflict]. It also refuses directories with mount points, because
// replacing them would remove data on another file system. It refuses devices, pipes
// and sockets with an error that wraps [ErrSpecial].
//
// If outputs exist, Check lists the input directories once, by name only, to find links
// to the outputs. It does not repeat the check of an output unless its resolved path
// has changed or it has come to exist.
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

type check struct {
	ctx      context.Context
	mounts   []mount
	overlays []overlay
	targets  []*target
	deep     bool // search directories for links, because some output exists
	dirs     map[string]directory
}

// directory is the cached state of a directory in the path of a link.
type directory struct {
	real  string
	above []os.FileInfo // of its parents and itself
	err   error         // it is an output, or its path leads through one
}

func newCheck(ctx context.Context) *check {
	all := mounts()
	return &check{ctx: ctx, mounts: all, overlays: overlays(all), dirs: map[string]directory{}}
}

// target is an output with its state on disk.
type target struct {
	Output
	real  string
	info  os.FileInfo   // nil if it does not exist
	above []os.FileInfo // of its parents and itself
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

// isSpecial refuses an existing target that is neither a file nor a directory:
// replacing it would take it from its users.
func (t *target) isSpecial() error {
	if t.info == nil || t.info.Mode().Type()&^(fs.ModeDir|fs.ModeSymlink) == 0 {
		return nil
	}
	return fmt.Errorf("refusing to write to %s (%s): it is not a file but %s (%w)", display.Name(t.Path), t.Owner, special(t.info.Mode()), ErrSpecial)
}

// special returns the name of a mode that is neither a file nor a directory.
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

func (t *target) holdsMount(all []mount) error {
	if t.Files || t.Shallow {
		return nil
	}
	for _, m := range all {
		if m.path != t.real && Inside(t.real, m.path) {
			return fmt.Errorf("refusing to write to %s (%s): at %s another file system is mounted; unmount it, or choose another place", display.Name(t.Path), t.Owner, display.Name(m.path))
		}
	}
	return nil
}

// above lists the existing directories on a real path, and the path itself, by name and
// by the original of a bind mount.
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

// input compares the outputs with one input.
func (c *check) input(i Input) error {
	links, end := ResolveLinks(i.Path)
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

// place compares the outputs with the target of an input, and with its layers.
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

// entry compares the outputs with a name, a link or a file, that is needed. shown is
// the path for the message.
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
	above := c.directory(i, filepath.Dir(real)).above
	for _, t := range c.targets {
		if t.real == real || t.holds(real, above) || t.is(real, info) {
			return t.refuse(i, shown, real)
		}
	}
	return nil
}

// holds reports whether a real path is lost when t is replaced. above has its parents.
func (t *target) holds(real string, above []os.FileInfo) bool {
	if t.Files {
		return false
	}
	return Inside(t.real, real) || t.info != nil && t.info.IsDir() && holds(above, t.info)
}

func holds(above []os.FileInfo, dir os.FileInfo) bool {
	return slices.ContainsFunc(above, func(a os.FileInfo) bool { return os.SameFile(a, dir) })
}

// is reports whether t is the file at a real path under another spelling of its name. A
// name in another directory does not count, because the output is a new file.
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
	return fmt.Errorf("refusing to write to %s (%s): %s reads %s%s (%w)", display.Name(t.Path), t.Owner, i.Owner, display.Name(i.Path), via, ErrConflict)
}

// walk checks the links in and below a directory. It does not follow links to
// directories: a source that does lists them as inputs.
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

// name compares the outputs with a file that is read under a name: the name, all links
// on its path, and the file.
func (c *check) name(i Input, path string) error {
	for range maxLinks {
		dir, base := filepath.Split(path)
		f := c.directory(i, dir)
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
			return nil //nolint:nilerr // it is not a link, or not there
		}
		if path = to; !filepath.IsAbs(to) {
			path = f.real + string(filepath.Separator) + to // not cleaned: the meaning of .. depends on links
		}
	}
	return nil
}

// entryIn is entry for a file in a known directory.
func (c *check) entryIn(i Input, f directory, real, shown string) error {
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

const maxDirs = 4096

// directory returns the state of a directory on the path to a file.
func (c *check) directory(i Input, dir string) directory {
	if f, ok := c.dirs[dir]; ok {
		return f
	}
	links, end := ResolveLinks(dir)
	f := directory{real: end, above: c.above(end)}
	if len(c.dirs) >= maxDirs {
		clear(c.dirs)
	}
	c.dirs[dir] = f
	for _, link := range links {
		if f.err == nil {
			f.err = c.entry(i, link, link)
		}
	}
	c.dirs[dir] = f
	return f
}

// eachEntry calls f for the entries of a directory. It skips one that cannot be listed,
// because that cannot be read either.
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
