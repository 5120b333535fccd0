// Package output is what sinks have in common: where they may write, whose turn
// it is, and how what they write appears complete or not at all.
//
// A place is the path that a sink writes, with links followed: [Place] refuses
// one that is, holds or lies in something that the flow reads. A turn is the
// right to write a place, alone among the processes that share a cache
// ([TakeTurn]). A staging is the hidden file or folder beside a place in which
// something is written until it is complete; then it takes the place's name at
// once. What a killed writer left is known by the lock that died with its owner,
// where the system has such, and handed out to one writer only. [WriteFile] does
// all this for a single file, [StageFolder] for a folder; [FilesAt] for files at a path of this
// machine or at a URL (package place).
//
// Where something is there already, [Overwrite] says what becomes of it.
//
// So a reader finds the old content or the new, but for file systems that can
// neither link nor exchange, where there is a moment between two moves. Nothing
// is synced to the medium: after a loss of power a file may be cut. Errors that
// something is there already wrap [io/fs.ErrExist]. Everything may be called
// from many goroutines.
package output

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
)

// Place returns the path that a sink writes for a parameter, links followed, so
// that a link stays and what it names is written. It refuses a path that is,
// lies in, or lies around something that the flow reads (package guard). What is
// at the path is replaced as a whole.
func Place(ctx context.Context, env *component.Env, p component.Path) (string, error) {
	return placeOf(ctx, env, pathguard.Output{Path: env.Path(p)})
}

// FilesPlace is [Place] for a path at which there may be a folder, of which only
// files are written: each needs a look of its own at what the flow reads.
func FilesPlace(ctx context.Context, env *component.Env, p component.Path) (string, error) {
	return placeOf(ctx, env, pathguard.Output{Path: env.Path(p), Files: true})
}

func placeOf(ctx context.Context, env *component.Env, o pathguard.Output) (string, error) {
	o.Who = "node " + env.Node
	if err := env.Inputs.Check(ctx, o); err != nil {
		return "", err
	}
	return o.Place(), nil
}

// SafeName reports whether a text can name one file or folder in a folder that
// is not hidden, and nothing outside it.
func SafeName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\\x00") && filepath.IsLocal(name)
}

// TakeTurn keeps two processes that share a cache from writing one path at the
// same time. release ends the turn. A folder that a killed writer had moved aside
// is back at the path.
func TakeTurn(ctx context.Context, env *component.Env, path string) (release func(), err error) {
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

// takeTurn is TakeTurn for whatever a path names.
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
