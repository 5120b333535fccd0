package flow

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
)

// A Bundle is the source of a flow: all that another process needs to build the
// same graph with the same keys, if it sees the same data under the same names.
// It can be encoded as JSON, or in any other format with strings.
type Bundle struct {
	File  string            `json:"file"`           // absolute; relative paths start at its directory
	Files map[string]string `json:"files"`          // the file and its includes, by absolute path
	Vars  map[string]string `json:"vars,omitempty"` // values given for variables
}

// Bundle returns the source of the flow. It returns an error for a flow built in
// Go.
func (f *Flow) Bundle() (Bundle, error) {
	if f.texts == nil {
		return Bundle{}, fmt.Errorf("flow %s was built in Go and cannot be sent; send a flow read from a file", f.Name)
	}
	return Bundle{File: f.File, Files: f.texts.content, Vars: f.vars}, nil
}

// Flow builds the flow again, without reading a file.
func (t Bundle) Flow() (*Flow, error) {
	content, ok := t.Files[t.File]
	if !ok || !filepath.IsAbs(t.File) {
		return nil, fmt.Errorf("flow file %s is missing in the bundle", t.File)
	}
	read := func(file string) ([]byte, error) {
		content, ok := t.Files[file]
		if !ok {
			return nil, fmt.Errorf("the bundle of flow %s lacks the included file %s", t.File, file)
		}
		return []byte(content), nil
	}
	return parse(t.File, []byte(content), t.Vars, read)
}

type texts struct {
	names   []string // in order of reading
	content map[string]string
	read    func(file string) ([]byte, error)
}

func (t *texts) add(file string, content []byte) {
	t.names = append(t.names, file)
	t.content[file] = string(content)
}

// ReadFile reads a flow file, of 16 MiB at most. A pipe or a device is an
// error.
func ReadFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFrom(f, file)
}

// ReadFrom is [ReadFile] for an open reader of any kind; file is its name.
func ReadFrom(r io.Reader, file string) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxFileSize+1))
	if err == nil && len(content) > maxFileSize {
		err = fmt.Errorf("%s: the flow file exceeds %d MiB", file, maxFileSize>>20)
	}
	return content, err
}

func parse(file string, content []byte, vars map[string]string, read func(file string) ([]byte, error)) (*Flow, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	all := &texts{content: map[string]string{}, read: read}
	all.add(abs, content)
	p := newParser(newProblems(file, content), abs, all, values(vars))
	p.read(content)
	p.checkSet(vars)
	f := &Flow{
		Name: flowName(file), File: abs, Files: all.names, Dir: p.dir, texts: all, vars: maps.Clone(vars),
		problems: p.problems, included: p.included,
	}
	if f.err() == nil {
		p.expandNodes()
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	f.Nodes, f.Limits, f.epoch = p.nodes, p.bounds, p.vars[epochVariable]
	f.check()
	return f, f.err()
}
