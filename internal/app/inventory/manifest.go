package inventory

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/store"
)

func manifests(ctx context.Context, s store.Manifests) iter.Seq2[store.Manifest, error] {
	return func(yield func(store.Manifest, error) bool) {
		for head, err := range s.Manifests(ctx) {
			var m store.Manifest
			if err == nil {
				m, err = s.Manifest(ctx, head.Name)
			}
			if errors.Is(err, store.ErrNotFound) {
				continue // it was removed in the meantime
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Manifests returns the names of all manifests, in order.
func Manifests(ctx context.Context, s store.Manifests) (names []string, err error) {
	for m, err := range s.Manifests(ctx) {
		if err != nil {
			return nil, err
		}
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names, nil
}

// abandoned returns the names of manifests whose flow file is missing, and of those
// whose node pins nothing according to pins, in order.
func abandoned(ctx context.Context, s store.Manifests, pins func(file, node string) bool) (names []string, err error) {
	for m, err := range s.Manifests(ctx) {
		if err != nil {
			return nil, err
		}
		file, node, ok := flowFile(m.Name)
		if !ok {
			continue
		}
		_, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && m.Pinned && pins != nil && !pins(file, node) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// flowFile returns the flow file and the node in the name of a manifest: an
// absolute path, "#" and a node or one of its outputs. Manifests of flows built in
// Go have a path that never was a file. So only a path with a YAML extension counts
// as a file, which keeps the pins of others.
func flowFile(manifest string) (file, node string, ok bool) {
	i := strings.LastIndexByte(manifest, '#')
	if i < 0 {
		return "", "", false
	}
	file = manifest[:i]
	node, _, _ = strings.Cut(manifest[i+1:], ".")
	switch strings.ToLower(filepath.Ext(file)) {
	case ".yaml", ".yml":
		return file, node, filepath.IsAbs(file)
	}
	return "", "", false
}
