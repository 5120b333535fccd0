package vfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
)

// Names in the directory of a store.
const (
	Packs      = "packs"
	Blobs      = "blobs"
	Manifests  = "manifests"
	Touches    = "touch"
	Quarantine = "quarantine"
	Temps      = "tmp"
	// Trash holds blobs between the decision that they are unreferenced and their removal.
	Trash = "trash"

	FormatFile  = "FORMAT"
	ReadmeFile  = "README"
	TagFile     = "CACHEDIR.TAG"
	LeasesFile  = "leases"
	CollectFile = "gc.lock"
)

const readme = `This directory is a Larder store. It keeps the results of computations, so that
they need not be computed again.

It holds nothing that cannot be computed again: it may be deleted at any time, as a
whole. It may be copied or moved as a whole while no program uses it. Please
change no file in it.

packs/       records, many to a file, and indexes of these files
blobs/       large values, one to a file, named by SHA-256
manifests/   named lists of records
packs.idx    an index of all packs
touch/       when old records were last used
quarantine/  damaged records, for inspection; deleted after a while
tmp/, trash/ files that are being written or removed
`

// The signature is fixed by https://bford.info/cachedir/.
const cachedirTag = `Signature: 8a477f597d28d172789f06886806bc55
# This file is a cache directory tag created by Larder.
# For information about cache directory tags, see https://bford.info/cachedir/
`

// LayOut creates what the directory lacks, and rewrites damaged marks: a directory without
// a mark is not a store.
func (f *Directory) LayOut() error {
	if err := f.makeDirs(); err != nil {
		return err
	}
	for _, one := range []struct{ name, text string }{{ReadmeFile, readme}, {TagFile, cachedirTag}} {
		path := f.Path(one.name)
		if b, err := f.Read(path, 4096); err == nil && string(b) == one.text {
			continue
		}
		if err := f.Write(path, []byte(one.text)); err != nil {
			return err
		}
	}
	return nil
}

// makeDirs creates the directory of the store and its subdirectories.
func (f *Directory) makeDirs() error {
	if err := f.mkdirAll(); err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := f.makeDir(f.Path(dir)); err != nil {
			return err
		}
	}
	return nil
}

// makeDir creates a directory, and moves away anything else at its path. It also moves a
// link to a directory, because the target may be foreign and would be swept.
func (f *Directory) makeDir(path string) error {
	err := f.mkdir(path)
	if err == nil && f.Sync {
		return f.SyncNames(filepath.Dir(path))
	}
	if err == nil {
		return nil
	}
	info, lerr := f.Lstat(path)
	switch {
	case errors.Is(lerr, fs.ErrNotExist):
		return StoreError(err)
	case lerr != nil: // it may be the directory
		return StoreError(lerr)
	case info.IsDir():
		return nil
	}
	f.obstacle(path)
	return StoreError(f.mkdir(path))
}

// obstacle moves away what is at a path of the store.
func (f *Directory) obstacle(path string) {
	if filepath.Base(path) == Quarantine {
		_ = f.Remove(path) // the quarantine cannot move itself
		return
	}
	f.Quarantine(path, ErrStray)
}

// RandomID returns an ID for file names. A pack name must never be reused, because the
// checksums of its records depend on it; 64 random bits ensure that.
func RandomID() uint64 { return rand.Uint64() }
