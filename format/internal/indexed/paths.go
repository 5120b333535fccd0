package indexed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/objectstore"
)

// maxFiles bounds the number of files of a pattern.
const maxFiles = 1_000_000

// Expand returns the paths of a pattern: {000..099} represents each number, with as many
// digits as the first one, and {a,b} each alternative. A path without braces represents
// itself.
func Expand(pattern string) ([]string, error) {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}, nil
	}
	length := strings.IndexByte(pattern[open:], '}')
	if length < 0 {
		return nil, fmt.Errorf("path: %q has { without }; close it", objectstore.Name(pattern))
	}
	before, inside := pattern[:open], pattern[open+1:open+length]
	choices, err := choicesOf(inside)
	if err != nil {
		return nil, err
	}
	rest, err := Expand(pattern[open+length+1:])
	if err != nil {
		return nil, err
	}
	if len(choices) > maxFiles/len(rest) {
		return nil, fmt.Errorf("path: %q expands to more than %d files", objectstore.Name(pattern), maxFiles)
	}
	all := make([]string, 0, len(choices)*len(rest))
	for _, c := range choices {
		for _, r := range rest {
			all = append(all, before+c+r)
		}
	}
	return all, nil
}

// choicesOf returns the alternatives of a pair of braces.
func choicesOf(inside string) ([]string, error) {
	first, last, isRange := strings.Cut(inside, "..")
	if !isRange {
		if !strings.Contains(inside, ",") {
			return nil, fmt.Errorf("path: {%s} is not a pattern; write {first..last} or {a,b}", inside)
		}
		return strings.Split(inside, ","), nil
	}
	from, err := strconv.ParseUint(first, 10, 32)
	to, lerr := strconv.ParseUint(last, 10, 32)
	if err != nil || lerr != nil || from > to {
		return nil, fmt.Errorf("path: {%s} is not a range; write numbers such as {000..099}", inside)
	}
	if to-from >= maxFiles {
		return nil, fmt.Errorf("path: {%s} expands to more than %d files", inside, maxFiles)
	}
	all := make([]string, 0, to-from+1)
	for n := from; n <= to; n++ {
		all = append(all, fmt.Sprintf("%0*d", len(first), n))
	}
	return all, nil
}

// A Path is the path of a source whose files [Files] lists. A source with no more than that
// to say about its files delegates to it (see component.Delegator).
type Path component.Path

// Check refuses a path that cannot name a file to read.
func (p Path) Check() error {
	all, err := Expand(string(p))
	if err == nil && p.isFar() {
		err = objectstore.Check(all[0])
	}
	return err
}

// Far marks sources that also read from URLs.
func (p Path) Far() {}

// Listed reports that names, sizes and times identify the input, except at a URL.
func (p Path) Listed() bool { return !p.isFar() }

func (p Path) isFar() bool { return objectstore.Is(string(p)) }

// Inputs returns the files to read.
func (p Path) Inputs(env *component.Env) (all []pathguard.Input) {
	paths, err := named(env.Path(component.Path(p)))
	if err != nil {
		return nil // refused when it is opened
	}
	for _, p := range paths {
		all = append(all, pathguard.Input{Path: p, Flat: true})
	}
	return all
}

// named returns the existing file of a path, even if its name has braces, or else the
// paths of the pattern.
func named(path string) ([]string, error) {
	if objectstore.Is(path) {
		return Expand(path)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return []string{path}, err
	}
	return Expand(path)
}

// Files returns the files at a path, in a directory there, by name, or of a pattern: see
// [Expand]. In a directory, only names with one of the endings count, which are in lower
// case.
func Files(ctx context.Context, path string, endings ...string) ([]string, error) {
	paths, err := named(path)
	if err != nil || len(paths) > 1 || paths[0] != path {
		return paths, err
	}
	if objectstore.Is(path) {
		return far(ctx, path, endings)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file or directory", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return paths, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	paths = nil
	for _, e := range entries {
		if e.IsDir() || !ends(e.Name(), endings) {
			continue
		}
		p := filepath.Join(path, e.Name())
		if err := checkFound(p, e); err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	if paths == nil {
		return nil, fmt.Errorf("%s has no files *%s", path, strings.Join(endings, ", *"))
	}
	return paths, checkTwice(paths, endings)
}

// checkFound refuses a pipe in a directory, because a stream would wait for it. A pipe
// that the user names is allowed.
func checkFound(path string, e fs.DirEntry) error {
	if e.Type().IsRegular() {
		return nil
	}
	if info, err := os.Stat(path); err == nil { // the target of a link
		return rows.CheckRegular(path, info.Mode())
	}
	return nil // reported when it is opened
}

// checkTwice refuses files of a directory whose names differ only in their endings, such
// as a.jsonl and a.jsonl.gz. Most likely one is a copy of the other, and all samples
// would be read twice.
func checkTwice(paths, endings []string) error {
	seen := make(map[string]string, len(paths))
	for _, p := range paths {
		stem := objectstore.Name(p)
		for _, e := range endings {
			if name := objectstore.Name(p); strings.HasSuffix(strings.ToLower(name), e) && len(name)-len(e) < len(stem) {
				stem = name[:len(name)-len(e)]
			}
		}
		if other, twice := seen[stem]; twice {
			return fmt.Errorf("%s and %s may have the same content; remove one, or choose files with a pattern {a,b}", objectstore.Name(other), objectstore.Name(p))
		}
		seen[stem] = p
	}
	return nil
}

// far returns the files at a URL: for one that ends with a slash, those in the
// directory.
func far(ctx context.Context, path string, endings []string) (paths []string, err error) {
	if !strings.HasSuffix(objectstore.Name(path), "/") {
		return []string{path}, nil
	}
	all, err := objectstore.List(ctx, path)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		name := objectstore.Name(p)
		if ends(name[strings.LastIndexByte(name, '/')+1:], endings) {
			paths = append(paths, p)
		}
	}
	if paths == nil {
		return nil, fmt.Errorf("%s has no files *%s", objectstore.Name(path), strings.Join(endings, ", *"))
	}
	return paths, checkTwice(paths, endings)
}

func ends(name string, endings []string) bool {
	lower := strings.ToLower(name)
	return !strings.HasPrefix(name, ".") && slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(lower, e) })
}
