// Package output is what sinks have in common: where they may write, whose turn
// it is, and how what they write appears complete or not at all.
//
// A place is the path that a sink writes, with links followed: [Place] refuses
// one that is, holds or lies in something that the flow reads. A turn is the
// right to write a place, alone among the processes that share a cache
// ([TakeTurn]). A staging is the hidden file or folder beside a place in which
// something is written until it is complete; then it takes the place's name at
// once ([Publish], [Swap]). What a killed writer left is stale: [TakeStale]
// knows it by the lock that died with its owner, where the system has such, and
// hands it out to one writer only. [WriteFile] does all this for a single file; a sink of folders does it
// in its own steps.
//
// Where something is there already, [Overwrite] says what becomes of it. An item
// that lies in a file gets to its place as [Copy] says.
//
// So a reader finds the old content or the new, but for file systems that can
// neither link nor exchange, where there is a moment between two moves. Nothing
// is synced to the medium: after a loss of power a file may be cut. Errors that
// something is there already wrap [io/fs.ErrExist]. Everything may be called
// from many goroutines.
package output

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/key"
)

// Place returns the path that a sink writes for a parameter, links followed, so
// that a link stays and what it names is written. It refuses a path that is,
// lies in, or lies around something that the flow reads.
func Place(env *component.Env, p component.Path) (string, error) {
	path := Resolve(env.Path(p))
	for _, in := range env.Inputs {
		source := Resolve(in)
		if Inside(source, path) || Inside(path, source) {
			return "", fmt.Errorf("refusing to write to %s: the flow reads %s, and a dataset is never written over its own input", path, in)
		}
	}
	return path, nil
}

// Resolve follows the links in as much of a path as exists.
func Resolve(path string) string {
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

// Inside reports whether path is dir or lies in it.
func Inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// SafeName reports whether a text can name one file or folder in a folder that
// is not hidden, and nothing outside it.
func SafeName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\\x00") && filepath.IsLocal(name)
}

// TakeTurn keeps two processes that share a cache from writing one path at the
// same time. release ends the turn.
func TakeTurn(ctx context.Context, env *component.Env, path string) (release func(), err error) {
	if env.Larder == nil {
		return func() {}, nil
	}
	return env.Larder.Store().Lease(ctx, key.Key(key.DigestOf([]byte("sink "+path))))
}
