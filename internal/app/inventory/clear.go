package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Clear removes the selected records, pinned or not. Manifests stay: the results
// that they name are computed again on request.
func Clear(ctx context.Context, s store.Store, sel Selection) (Removed, error) {
	return clearAll(ctx, s, nil, sel.has)
}

// ClearAll removes every record and every manifest.
func ClearAll(ctx context.Context, s store.Store) (Removed, error) {
	names, err := Manifests(ctx, s)
	if err != nil {
		return Removed{}, err
	}
	return clearAll(ctx, s, names, func(Record) bool { return true })
}

// ClearManifests removes the records that the manifests name, pinned or not, the
// targets of links among them, and then the manifests.
func ClearManifests(ctx context.Context, s store.Store, names ...string) (Removed, error) {
	named := map[key.Key]bool{}
	for _, name := range names {
		m, err := s.Manifest(ctx, name)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return Removed{}, fmt.Errorf("manifest %q: %w", name, err)
		}
		for _, k := range m.Keys {
			named[k] = true
		}
	}
	if err := followLinks(ctx, s, named); err != nil {
		return Removed{}, err
	}
	return clearAll(ctx, s, names, func(r Record) bool { return named[r.Key] })
}

// followLinks adds the targets of the links among keys.
func followLinks(ctx context.Context, s store.Records, keys map[key.Key]bool) error {
	for info, err := range s.Records(ctx) {
		if err != nil {
			return err
		}
		if !info.Link.IsZero() && keys[info.Key] {
			keys[info.Link] = true
		}
	}
	return nil
}

func clearAll(ctx context.Context, s store.Store, manifests []string, goes func(Record) bool) (Removed, error) {
	rm, err := newRemover(ctx, s, false)
	if err != nil {
		return Removed{}, err
	}
	for r, err := range Records(ctx, s, Selection{}) {
		if err == nil && goes(r) {
			err = rm.remove(ctx, r)
		}
		if err != nil {
			return Removed{}, err
		}
	}
	if err := rm.flush(ctx); err != nil {
		return Removed{}, err
	}
	for _, name := range manifests {
		if err := s.DeleteManifest(ctx, name); err != nil {
			return Removed{}, err
		}
	}
	if err := rm.collect(ctx, 0); err != nil {
		return Removed{}, err
	}
	return rm.removed(ctx, manifests)
}

// ManifestsOf returns the names of the manifests of a flow's node, one for each of
// its outputs. If there is none, the error is an [*UnknownError] with the nodes of
// the flow.
func ManifestsOf(ctx context.Context, s store.Manifests, file, node string) (names []string, err error) {
	all, err := Manifests(ctx, s)
	if err != nil {
		return nil, err
	}
	unknown := &UnknownError{Name: file + "#" + node}
	for _, name := range all {
		place, ok := strings.CutPrefix(name, file+"#")
		if !ok {
			continue
		}
		unknown.Nodes = append(unknown.Nodes, name)
		if of, _, _ := strings.Cut(place, "."); place == node || of == node {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil, unknown
	}
	return names, nil
}
