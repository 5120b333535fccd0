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

// Env is what a component may use besides its parameters.
type Env struct {
	Node   string             // the node's name, for errors
	Dir    string             // directory of relative paths
	Larder *larder.Larder     // caches results; may be nil
	Files  key.Memo           // caches digests of files; may be nil
	Pool   *pool.Pool         // bounds concurrency, and the bytes in use
	Stats  *dataset.NodeStats // counts the work of the node
	Log    *slog.Logger       // takes warnings
	// Inputs are the inputs of the flow, which a sink must not overwrite. May be nil.
	Inputs *pathguard.Inputs
	// Written, if not nil, must be called by a sink of files when it has ended, also on
	// failure, while no other run can write to its output.
	Written func()
	// Pieces, if not nil, lets a sink that is an [IncrementalSink] reuse its old output.
	Pieces *OutputChunks
	// Logs is a directory for the messages of commands about samples; "" means that
	// they are dropped.
	Logs string
	// Checked says that the component is only checked for errors in parameters and not
	// used, so it need not start external processes.
	Checked bool
	// Python is the Python interpreter; "" means the one of the environment.
	Python string
	// Stdin is the input of a source whose path is [StandardInput]; nil means none.
	Stdin *Input
	// Cleanup, if not nil, tracks work that must end before the run.
	Cleanup *Cleanup
	// Mapping returns how the node applies a mapper; nil caches nothing.
	Mapping func(m dataset.Mapper) dataset.MapOptions
}

// MapOptions returns how the node applies a mapper, for operators that apply one.
func (e *Env) MapOptions(m dataset.Mapper) dataset.MapOptions {
	if e.Mapping == nil {
		return dataset.MapOptions{Node: e.Node, Stats: e.Stats}
	}
	return e.Mapping(m)
}

// Path returns p as an absolute path; a relative path starts at the flow's directory. A
// URL stays as it is.
func (e *Env) Path(p Path) string {
	if urlpath.Is(string(p)) {
		return string(p)
	}
	if filepath.IsAbs(string(p)) {
		return filepath.Clean(string(p))
	}
	return filepath.Join(e.Dir, string(p))
}

// A Path is a parameter that names a file or directory. For a component that is [Far],
// it may be a URL (package objectstore).
type Path string
