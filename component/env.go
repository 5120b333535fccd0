package component

import (
	"log/slog"
	"path/filepath"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/internal/text/urlpath"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// Env is what a component may use beside its parameters.
type Env struct {
	Node   string         // the node's name, for errors
	Dir    string         // relative paths start here
	Larder *larder.Larder // keeps results; may be nil
	Files  key.Memo       // remembers digests of files; may be nil
	Pool   *pool.Pool     // bounds what is done at once, and the bytes in use meanwhile
	Tally  *dataset.Tally // counts what the node does
	Log    *slog.Logger   // takes warnings
	// Inputs are what the flow reads: a sink must not write there. May be nil.
	Inputs *pathguard.Inputs
	// Written, if not nil, is called by a sink of files when it has ended, well
	// or not, and as long as no other run writes where it wrote.
	Written func()
	// Pieces, if not nil, has a sink that is a [Piecer] take over what it wrote
	// before.
	Pieces *Pieces
	// Logs is a folder that takes what commands say about samples; "" means that
	// nobody wants to know.
	Logs string
	// Checked says that what is made is only looked at for errors in parameters, and not used:
	// nothing outside need be started for it.
	Checked bool
	// Python is the program that runs Python; "" is what the environment says.
	Python string
	// Stdin is what a source reads whose path is [StandardInput]; nil is nothing.
	Stdin *Input
	// Ending, if not nil, is told of what has to be over before the run is.
	Ending *Ending
	// Mapping says how the node applies a mapper; nil keeps nothing.
	Mapping func(m dataset.Mapper) dataset.MapOptions
}

// MapOptions says how the node applies a mapper, for operators that do.
func (e *Env) MapOptions(m dataset.Mapper) dataset.MapOptions {
	if e.Mapping == nil {
		return dataset.MapOptions{Node: e.Node, Tally: e.Tally}
	}
	return e.Mapping(m)
}

// Path returns p as an absolute path; a relative one starts at the flow's
// folder. A URL is returned as it is.
func (e *Env) Path(p Path) string {
	if urlpath.Is(string(p)) {
		return string(p)
	}
	if filepath.IsAbs(string(p)) {
		return filepath.Clean(string(p))
	}
	return filepath.Join(e.Dir, string(p))
}

// A Path is a parameter that names a file or folder. Of a component that is [Far], it may be a
// URL (package place).
type Path string
