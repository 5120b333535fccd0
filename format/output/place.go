// Package output provides sinks with safe outputs: checked paths, locks, and files and
// directories that appear complete or not at all.
//
// The place of an output is its path with links followed. [Place] refuses a path that
// is, contains or is inside an input of the flow. [LockOutput] locks a place among the
// processes that share a cache. An output is written to a hidden file or directory next
// to its place, and takes its name when it is complete. Locks of dead owners identify
// what killed writers left, if the system has such locks. Only one later writer receives
// it. [WriteFile] does all this for a single file, [StageDir] for a directory;
// [FilesAt] for files at a local path or at a URL (package objectstore).
//
// [Overwrite] says what happens to an existing output.
//
// A reader finds either the old content or the new. On file systems that can neither
// link nor exchange there is a moment without either. Nothing is synced to the medium:
// after a loss of power a file may be truncated. Errors about existing outputs wrap
// [io/fs.ErrExist]. All functions may be called from many goroutines.
package output

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
)

// Place returns the path that a sink writes for a parameter, with links followed, so
// that a link stays and its target is written. It refuses a path that is, is inside, or
// contains an input of the flow (package pathguard). The output at the path is replaced as a
// whole.
func Place(ctx context.Context, env *component.Env, p component.Path) (string, error) {
	return placeOf(ctx, env, pathguard.Output{Path: env.Path(p)})
}

// FilesPlace is [Place] for a path with a directory in which only single files are
// written. Each of them must be checked against the inputs of the flow.
func FilesPlace(ctx context.Context, env *component.Env, p component.Path) (string, error) {
	return placeOf(ctx, env, pathguard.Output{Path: env.Path(p), Files: true})
}

func placeOf(ctx context.Context, env *component.Env, o pathguard.Output) (string, error) {
	o.Owner = "node " + env.Node
	if err := env.Inputs.Check(ctx, o); err != nil {
		return "", err
	}
	return o.Place(), nil
}

// SafeName reports whether a string can name one visible file or directory in a
// directory, and nothing outside it.
func SafeName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\\x00") && filepath.IsLocal(name)
}

// LockOutput locks a path, so that processes with a shared cache do not write it at the
// same time. release releases the lock. A directory that a killed writer had moved aside
// is moved back.
func LockOutput(ctx context.Context, env *component.Env, path string) (release func(), err error) {
	release, err = takeTurn(ctx, env, path)
	if err != nil {
		return nil, err
	}
	if err := recoverAside(path); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// takeTurn is LockOutput for any path, without moving directories back.
func takeTurn(ctx context.Context, env *component.Env, path string) (release func(), err error) {
	end := func() {}
	if env.Larder != nil {
		if end, err = env.Larder.Store().Lease(ctx, key.Key(key.DigestOf([]byte("sink "+path)))); err != nil {
			return nil, err
		}
	}
	if env.Written == nil {
		return end, nil
	}
	return func() {
		env.Written()
		end()
	}, nil
}
