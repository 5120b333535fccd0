package underfolder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterSink("underfolder", "Writes a dataset to a folder; of an input with several outputs, each to a folder of its name inside. With replace the whole folder appears at once, or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink says where and how a dataset is written.
type Sink struct {
	Path      component.Path `param:"path,required" doc:"the folder to write"`
	Overwrite Overwrite      `param:"overwrite" doc:"what to do with a folder that is already there: fail (forbid), use it if it is empty (if-empty), add files (new-files), add and replace files (overwrite-files), or put the new dataset in its place (replace)" default:"forbid" enum:"forbid|if-empty|new-files|overwrite-files|replace"`
}

// Overwrite says what a sink does with a folder that is already there.
type Overwrite string

// The ways to treat a folder that is there.
const (
	Forbid         Overwrite = "forbid"          // fail
	IfEmpty        Overwrite = "if-empty"        // fail unless it is empty
	NewFiles       Overwrite = "new-files"       // add files; fail if one is there
	OverwriteFiles Overwrite = "overwrite-files" // add and replace files
	Replace        Overwrite = "replace"         // put the new dataset in its place, at once
)

// Write writes a dataset. Two writers of one folder take turns. With replace,
// and where there is no folder yet, it appears complete or not at all, files
// that are already there with the right content are not written again, and if
// nothing changed nothing is touched.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	path := resolve(env.Path(s.Path)) // a link stays, and what it names is written
	if err := refuseInputs(path, env.Inputs); err != nil {
		return err
	}
	if err := checkGroups(in.Names); err != nil {
		return err
	}
	release, err := takeTurn(ctx, env, path)
	if err != nil {
		return err
	}
	defer release()
	into, err := s.prepare(path)
	if err != nil {
		return err
	}
	defer into.discard()
	for i, part := range in.Parts {
		group := ""
		if in.Names != nil {
			group = in.Names[i]
		}
		env.Tally.Total.Add(int64(part.Len()))
		w, err := newWriter(env, into, group, part)
		if err != nil {
			return err
		}
		if err := w.write(ctx); err != nil {
			return err
		}
	}
	return into.finish(in.Names)
}

// refuseInputs refuses to write to, into or around a folder that the flow
// reads.
func refuseInputs(path string, inputs []string) error {
	target := resolve(path)
	for _, in := range inputs {
		source := resolve(in)
		if inside(source, target) || inside(target, source) {
			return fmt.Errorf("refusing to write to %s: the flow reads %s, and a dataset is never written over its own input", path, in)
		}
	}
	return nil
}

// resolve follows the links in as much of a path as exists.
func resolve(path string) string {
	path = filepath.Clean(path)
	const maxLinks = 40
	for rest, links := "", 0; ; {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(path); err == nil && links < maxLinks { // of nothing yet
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(path), to)
			}
			path = to
			links++
			continue
		}
		parent := filepath.Dir(path)
		if parent == path {
			return filepath.Join(path, rest)
		}
		rest, path = filepath.Join(filepath.Base(path), rest), parent
	}
}

// inside reports whether path is dir or lies in it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// checkGroups refuses names that cannot be a folder's.
func checkGroups(names []string) error {
	for _, name := range names {
		if !safeName(name) || name == dataFolder {
			return fmt.Errorf("output %q cannot be the name of a folder; give it another, or write it by itself", name)
		}
	}
	return nil
}

// safeName reports whether a text can name one file or folder in a folder,
// and nothing outside it.
func safeName(name string) bool {
	return name != "" && name != "." && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\\x00") && filepath.IsLocal(name)
}

// takeTurn keeps two processes from writing one folder at the same time.
func takeTurn(ctx context.Context, env *component.Env, path string) (release func(), err error) {
	if env.Larder == nil {
		return func() {}, nil
	}
	return env.Larder.Store().Lease(ctx, key.Key(key.DigestOf([]byte("underfolder sink "+resolve(path)))))
}

// prepare returns the folder to write into, having checked that the one that
// may be there is treated as asked.
func (s Sink) prepare(path string) (*target, error) {
	if err := recoverAside(path); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	there := err == nil
	switch {
	case !there:
	case s.Overwrite == Forbid:
		return nil, fmt.Errorf("%s is already there; remove it, or say overwrite: replace", path)
	case s.Overwrite == IfEmpty && len(entries) > 0:
		return nil, fmt.Errorf("%s is not empty (it has %s); remove it, or say overwrite: replace", path, entries[0].Name())
	case s.Overwrite == Replace:
		if err := looksOurs(path, entries); err != nil {
			return nil, err
		}
	}
	if there && (s.Overwrite == NewFiles || s.Overwrite == OverwriteFiles) {
		return &target{path: path, dir: path, replaceFiles: s.Overwrite == OverwriteFiles}, nil
	}
	return newTarget(path, there)
}

// looksOurs refuses to replace a folder that holds anything but a dataset: a
// mistyped path must not cost somebody their files.
func looksOurs(path string, entries []os.DirEntry) error {
	m, err := readMark(path)
	for _, e := range entries {
		within := filepath.Join(path, e.Name())
		switch {
		case e.IsDir() && slices.Contains(m.Groups, e.Name()):
			group, err := os.ReadDir(within)
			if err != nil {
				return err
			}
			if err := looksOurs(within, group); err != nil {
				return err
			}
		case e.IsDir() && e.Name() == dataFolder:
			if err := onlyFiles(within); err != nil {
				return err
			}
		case !isFile(e):
			return notOurs(path, e.Name())
		}
	}
	if err != nil && len(entries) > 0 && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == dataFolder }) {
		return fmt.Errorf("refusing to replace %s: it has no folder %s and so is no dataset; remove it yourself if you are sure", path, dataFolder)
	}
	return nil
}

// onlyFiles refuses a folder that holds anything but files.
func onlyFiles(dir string) (err error) {
	walkErr := eachFile(dir, func(e os.DirEntry) {
		if !isFile(e) && err == nil {
			err = notOurs(dir, e.Name())
		}
	})
	return errors.Join(err, walkErr)
}

func notOurs(path, name string) error {
	return fmt.Errorf("refusing to replace %s: it holds %s and so is no dataset; remove it yourself if you are sure", path, name)
}
