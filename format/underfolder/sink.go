package underfolder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/entries"
	"github.com/larder-data/larder/format/internal/filecopy"
	"github.com/larder-data/larder/format/internal/taken"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

func init() {
	component.RegisterSink("underfolder", "Writes a dataset to a directory. An input with several outputs is written to a subdirectory for each. With replace, the directory appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the dataset to write.
type Sink struct {
	Path      component.Path   `param:"path,required" doc:"the directory to write"`
	Overwrite output.Overwrite `param:"overwrite,how" doc:"what to do with an existing directory: fail (forbid), use it if it is empty (if-empty), add files (new-files), add and replace files (overwrite-files), or replace it (replace)" default:"forbid" enum:"forbid|if-empty|new-files|overwrite-files|replace"`
	Copy      filecopy.Way     `param:"copy,how" doc:"how to write an item that is a file: reflink-or-copy shares disk blocks if possible, hard-link, symbolic-link, or rewrite (decode and encode); a link that cannot be created becomes a copy" default:"reflink-or-copy" enum:"reflink-or-copy|hard-link|symbolic-link|rewrite"`
}

// Listed reports that an output that is unchanged since it was written may stay.
func (s Sink) Listed() bool { return s.Overwrite == output.Replace }

// Outputs reports whether other processes may also add files to the directory.
func (s Sink) Outputs(env *component.Env) []pathguard.Output {
	return []pathguard.Output{{Path: env.Path(s.Path), Shared: s.Overwrite == output.NewFiles || s.Overwrite == output.OverwriteFiles}}
}

// Write writes a dataset. Concurrent writers of one directory take turns. With replace,
// and for a new directory, it appears complete or not at all. Existing files with the
// right content are not written again, and if nothing changed nothing is touched. After
// a writer was killed, or canceled by ctx, the next one resumes: completed files are not
// written again.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	path, err := output.Place(ctx, env, s.Path)
	if err != nil {
		return err
	}
	if slices.Contains(in.Names, dataDir) {
		return fmt.Errorf("output %s conflicts with the directory of the samples; rename the output", dataDir)
	}
	if err := output.CheckNames(path, in.Names, ""); err != nil {
		return err
	}
	release, err := output.LockOutput(ctx, env, path)
	if err != nil {
		return err
	}
	defer release()
	into, err := s.prepare(path)
	if err != nil {
		return err
	}
	defer into.close(ctx)
	for i, part := range in.Parts {
		group := ""
		if in.Names != nil {
			group = in.Names[i]
		}
		env.Stats.Total.Add(int64(part.Len()))
		w, err := newWriter(env, into, group, part, cmp.Or(s.Copy, filecopy.Reflink))
		if err != nil {
			return err
		}
		if err := w.write(ctx); err != nil {
			return err
		}
	}
	return into.finish(in.Names)
}

// prepare returns the directory to write, after checking an existing one against the
// overwrite mode.
func (s Sink) prepare(path string) (*target, error) {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	there := err == nil
	var old os.FileInfo
	if there {
		if old, err = os.Lstat(path); err != nil {
			return nil, err
		}
	}
	switch {
	case !there:
	case s.Overwrite == output.Forbid:
		return nil, taken.Error("%s already exists; remove it, or set overwrite: replace", path)
	case s.Overwrite == output.IfEmpty && len(entries) > 0:
		return nil, taken.Error("%s is not empty (it has %s); remove it, or set overwrite: replace", path, entries[0].Name())
	case s.Overwrite == output.Replace:
		if err := looksOurs(path, path); err != nil {
			return nil, err
		}
	}
	if there && (s.Overwrite == output.NewFiles || s.Overwrite == output.OverwriteFiles) {
		root, err := os.OpenRoot(path)
		return &target{path: path, dir: path, root: root, replaceFiles: s.Overwrite == output.OverwriteFiles}, err
	}
	return newTarget(path, old)
}

// looksOurs refuses to replace a directory with anything but a dataset, because a
// mistyped path must not destroy the user's files. Errors name the directory as shown.
func looksOurs(path, shown string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	m, err := readMark(path)
	for _, e := range entries {
		within := filepath.Join(path, e.Name())
		switch {
		case e.IsDir() && slices.Contains(m.Groups, e.Name()):
			if err := looksOurs(within, filepath.Join(shown, e.Name())); err != nil {
				return err
			}
		case e.IsDir() && e.Name() == dataDir:
			if err := onlyItems(within, filepath.Join(shown, dataDir), &m); err != nil {
				return err
			}
		case !isFile(e) || !m.has(e.Name()):
			return notOurs(shown, e.Name())
		}
	}
	if err != nil && len(entries) > 0 && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == dataDir }) {
		return fmt.Errorf("refusing to replace %s: not a dataset, as %s is missing; remove the directory to replace it", shown, dataDir)
	}
	return nil
}

// onlyItems refuses a directory with anything but items of samples, and with items that
// its mark does not list.
func onlyItems(dir, shown string, m *mark) (err error) {
	walkErr := entries.Each(dir, func(e os.DirEntry) {
		digits, rest, _ := strings.Cut(e.Name(), "_")
		index, isIndex := parseIndex(digits)
		key, ext := splitName(rest)
		item := isIndex && key != "" && isExtension(ext) && m.wrote(index, rest) || isUnfinished(e.Name())
		if (!isFile(e) || !item) && err == nil {
			err = notOurs(shown, e.Name())
		}
	})
	return errors.Join(err, walkErr)
}

// has reports whether a file at the top of a dataset is one of its items: one that the
// mark lists or, without a list, one of a known kind.
func (m mark) has(name string) bool {
	key, ext := splitName(name)
	if dataset.IsKnown(ext) && key != "" && m.Shared == nil {
		return true
	}
	return name == markName || name == markName+".new" || isUnfinished(name) || slices.Contains(m.Shared, name)
}

// isExtension reports whether a file's extension consists of letters and digits.
func isExtension(ext string) bool {
	return ext != "" && !strings.ContainsFunc(ext, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func notOurs(path, name string) error {
	return fmt.Errorf("refusing to replace %s: not a dataset, as it has %s; remove the directory to replace it", path, name)
}
