// Package pyfunction provides what components share that call functions of Python: how a
// function is named and identified, what it receives, and what it returns. Package python has
// the processes.
package pyfunction

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/python"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
)

// A Function is a function of Python as the parameters of a component name it.
type Function struct {
	Name        string // "module:name", or "file.py:name"
	Setup       string // as Name; "" for none
	Into        []string
	Args        map[string]any
	Files       map[string]component.Path
	Version     string
	Allow       []string // names of what it is not refused for; they change nothing else
	Path        []component.Path
	Interpreter string
	Timeout     string
}

// Check refuses what cannot be right.
func (f Function) Check() error {
	if module, name, ok := strings.Cut(f.Name, ":"); !ok || module == "" || name == "" {
		return fmt.Errorf("function is %q; name it with its module, as in detect:boxes", f.Name)
	}
	if f.Setup != "" && !strings.Contains(f.Setup, ":") {
		return fmt.Errorf("setup is %q; name it with its module, as in detect:load", f.Setup)
	}
	if len(f.Into) == 0 {
		return errors.New("into is empty; name at least one item")
	}
	for i, name := range f.Into {
		if slices.Contains(f.Into[:i], name) {
			return fmt.Errorf("into has %s twice", name)
		}
	}
	if slices.Contains(f.Allow, "") {
		return errors.New("allow: a name is empty; name what is allowed, as in time.perf_counter")
	}
	for name := range f.Files {
		if _, twice := f.Args[name]; twice {
			return fmt.Errorf("%s is in args and in files; leave out one of them", name)
		}
	}
	_, err := f.Limit()
	return err
}

// Limit is how long the function may take; 0 is as long as it takes.
func (f Function) Limit() (time.Duration, error) {
	if f.Timeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(f.Timeout)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("timeout %q is not a duration; write one such as 30s, 5m or 1h30m", f.Timeout)
	}
	return d, nil
}

// Inputs lists what it reads: no flow may write there.
func (f Function) Inputs(env *component.Env) (all []pathguard.Input) {
	for _, p := range f.Files {
		all = append(all, pathguard.Input{Path: env.Path(p)})
	}
	module, _, _ := strings.Cut(f.Name, ":")
	if strings.HasSuffix(module, ".py") {
		return append(all, pathguard.Input{Path: env.Path(component.Path(module))})
	}
	for _, dir := range append([]component.Path{"."}, f.Path...) {
		file := env.Path(dir + component.Path("/"+strings.ReplaceAll(module, ".", "/")+".py"))
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return append(all, pathguard.Input{Path: file})
		}
	}
	return all
}

// Worker returns what workers receive for the function, which has no items.
func (f Function) Worker(env *component.Env) (s python.Setup, err error) {
	s = python.Setup{
		Interpreter: cmp.Or(f.Interpreter, env.Python, os.Getenv("LARDER_PYTHON"), besideProgram(), "python3"),
		Dir:         env.Path("."), Path: []string{}, Function: f.Name, Start: f.Setup, Version: f.Version,
		Allow: append([]string{}, slices.Compact(slices.Sorted(slices.Values(f.Allow)))...),
		Items: []string{}, Into: f.Into, Files: map[string]string{}, Shared: runtime.GOOS != "windows",
	}
	if strings.ContainsRune(s.Interpreter, os.PathSeparator) {
		s.Interpreter = env.Path(component.Path(s.Interpreter))
	}
	for _, p := range f.Path {
		dir := env.Path(p)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return s, fmt.Errorf("path: no directory %s", dir)
		}
		s.Path = append(s.Path, dir)
	}
	for name, p := range f.Files {
		s.Files[name] = env.Path(p)
	}
	if len(f.Args) > 0 {
		if s.Args, err = json.Marshal(plainArgs(f.Args)); err != nil {
			err = fmt.Errorf("args: %w", cmp.Or(errors.Unwrap(err), err))
		}
	}
	return s, err
}

// besideProgram is the interpreter of the environment that the program is installed in, if
// it is in one.
func besideProgram() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	adjacent := filepath.Join(filepath.Dir(program), "python3")
	if _, err := os.Stat(filepath.Join(filepath.Dir(adjacent), "..", "pyvenv.cfg")); err != nil {
		return ""
	}
	if info, err := os.Stat(adjacent); err != nil || info.IsDir() {
		return ""
	}
	return adjacent
}

// importTime is how long a function may take to be imported, with all that it needs.
const importTime = 5 * time.Minute

// Open has a function imported by a worker, and returns the pool of at most the given number
// of its workers. They end with the run.
func Open(ctx context.Context, env *component.Env, s python.Setup, workers int) (*python.Pool, error) {
	var owner any
	if env.Cleanup != nil {
		owner = env.Cleanup
		env.Cleanup.Last(func() { python.CloseOf(owner) })
	}
	ctx, cancel := context.WithTimeoutCause(ctx, importTime, fmt.Errorf("it was not imported in %s", importTime))
	defer cancel()
	return python.Open(ctx, s, workers, owner)
}

// maxParts is how many parts of the code explanations have.
const maxParts = 400

// Params lists what the results of the function depend on: known is what its workers say of
// the code; without it, Version identifies that. It returns the files that it is given, too.
func (f Function) Params(ctx context.Context, env *component.Env, known *python.Identity) (params []key.Param, files Files, err error) {
	args, err := json.Marshal(plainArgs(f.Args))
	if err != nil {
		return nil, nil, err
	}
	params = []key.Param{{Name: "into", Value: f.Into}, {Name: "args", Value: string(args)}}
	if known == nil {
		params = append(params, key.Param{Name: "function", Value: f.Name}, key.Param{Name: "setup", Value: f.Setup}, key.Param{Name: "version", Value: f.Version})
	} else {
		params = append(params, key.Param{Name: "code", Value: known.Identity})
		seen := map[string]bool{}
		for _, p := range known.Parts[:min(len(known.Parts), maxParts)] {
			if name := "code " + p.Name; !seen[name] {
				seen[name] = true
				params = append(params, key.Param{Name: name, Value: p.Digest})
			}
		}
	}
	files = Files{}
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		path := env.Path(f.Files[name])
		d, _, err := key.DigestFile(ctx, path, env.Files)
		if err != nil {
			return nil, nil, fmt.Errorf("files: %s: %w", name, err)
		}
		files[path] = d
		params = append(params, key.Param{Name: "file " + name, Value: d.String()})
	}
	return params, files, nil
}

// Files are the digests of files that a function is given, by their paths.
type Files map[string]key.Digest

// Unchanged returns an error if a file differs from what it was when the function was identified.
// memo, which may be nil, remembers digests.
func (f Files) Unchanged(ctx context.Context, memo key.Memo) error {
	for path, was := range f {
		now, _, err := key.DigestFile(ctx, path, memo)
		if err != nil {
			return err
		}
		if now != was {
			return fmt.Errorf("%s: %w", path, dataset.ErrChanged)
		}
	}
	return nil
}
