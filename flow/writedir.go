package flow

import (
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// An included node starts at another directory than the flow. For most nodes
// only paths depend on it, and these can be written relative to the flow's
// directory. A [component.DirDependent] depends on the directory itself, which is
// written.

// putDir writes the directory of a node, if it differs from the flow's and
// matters.
func (w *writer) putDir(m *yaml.Node, n *Node) {
	if dir := n.dir(w.flow); dir != w.flow.Dir && isPlaced(n) {
		put(m, "folder", text(w.fromHere(dir)))
	}
}

// isPlaced reports whether more than paths depends on the directory of a node.
func isPlaced(n *Node) (placed bool) {
	component.Walk(n.Component, n.Params, func(_ *component.Component, params any) {
		_, is := params.(component.DirDependent)
		placed = placed || is
	})
	return placed
}

// path returns a path as written: relative to the flow's directory, unless the
// node's own is written.
func (w *writer) path(n *Node, p component.Path) string {
	if p == "" || p == component.StandardInput || urlpath.Is(string(p)) {
		return string(p)
	}
	dir, written := n.dir(w.flow), string(p)
	if !filepath.IsAbs(written) && dir != w.flow.Dir && !isPlaced(n) {
		written = w.fromHere(filepath.Join(dir, written))
	}
	if w.data {
		return filepath.Clean(written)
	}
	return written
}

// fromHere returns a path relative to the flow's directory, if possible.
func (w *writer) fromHere(path string) string {
	if rel, err := filepath.Rel(w.flow.Dir, path); err == nil {
		return rel
	}
	return path
}
