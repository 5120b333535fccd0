package flow

import (
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/urlpath"
)

// A node that was included starts at another folder than the flow. Of most, only their
// paths tell, and these can be written from the flow's folder on. For those that are
// [component.Placed] the folder itself counts, and is written.

// putFolder writes the folder of a node, if it is not the flow's and counts.
func (w *writer) putFolder(m *yaml.Node, n *Node) {
	if dir := n.dir(w.flow); dir != w.flow.Dir && isPlaced(n) {
		put(m, "folder", text(w.fromHere(dir)))
	}
}

// isPlaced reports whether more than paths depends on where a node starts.
func isPlaced(n *Node) (placed bool) {
	component.Walk(n.Component, n.Params, func(_ *component.Component, params any) {
		_, is := params.(component.Placed)
		placed = placed || is
	})
	return placed
}

// path is a path as it is written: where the node's folder is not, from the flow's on.
func (w *writer) path(n *Node, p component.Path) string {
	if p == "" || p == component.StandardInput || urlpath.Is(string(p)) {
		return string(p)
	}
	dir, said := n.dir(w.flow), string(p)
	if !filepath.IsAbs(said) && dir != w.flow.Dir && !isPlaced(n) {
		said = w.fromHere(filepath.Join(dir, said))
	}
	if w.data {
		return filepath.Clean(said)
	}
	return said
}

// fromHere is a path from the flow's folder on, if there is a way.
func (w *writer) fromHere(path string) string {
	if rel, err := filepath.Rel(w.flow.Dir, path); err == nil {
		return rel
	}
	return path
}
