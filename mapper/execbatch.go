package mapper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
)

// A desk is the pair of directories for the input and output items of a sample.
type desk struct {
	in, out string
	failed  string   // the file that reports that the sample failed; "" without one
	dirs    []ownDir // out, and its parents
}

// An ownDir is a directory that the command must not replace.
type ownDir struct {
	path   string
	called string // its name for the command, for messages
}

// desks creates n desks in a directory, and returns them with the variables that pass
// them to the command.
func (e *execution) desks(dir string, n int) ([]desk, []string, error) {
	if e.Batch == 0 {
		d := desk{in: filepath.Join(dir, "in"), out: filepath.Join(dir, "out")}
		d.dirs = []ownDir{{dir, "the parent directory of LARDER_OUT"}, {d.out, "its directory LARDER_OUT"}}
		return []desk{d}, []string{"LARDER_IN=" + d.in, "LARDER_OUT=" + d.out}, nil
	}
	batch := filepath.Join(dir, "batch")
	all := make([]desk, n)
	for i := range all {
		name := fmt.Sprintf("%03d", i) // of up to dataset.MaxBatch: sorts in order as a string
		own := filepath.Join(batch, name)
		if err := os.MkdirAll(own, 0o700); err != nil {
			return nil, nil, err
		}
		all[i] = desk{in: filepath.Join(own, "in"), out: filepath.Join(own, "out"), failed: filepath.Join(own, "error")}
		all[i].dirs = []ownDir{
			{dir, "the parent directory of LARDER_BATCH"}, {batch, "its directory LARDER_BATCH"},
			{own, "its directory LARDER_BATCH/" + name}, {all[i].out, "its directory LARDER_BATCH/" + name + "/out"},
		}
	}
	return all, []string{"LARDER_BATCH=" + batch}, nil
}

// collectAll reads the output of a command that succeeded or failed. A failed command
// may leave partial items, so only its reports of failed samples count.
func (e *execution) collectAll(desks []desk, ended error) ([]dataset.Sample, error) {
	outs, errs, named := make([]dataset.Sample, len(desks)), map[int]error{}, false
	for i, d := range desks {
		err := d.error()
		switch named = named || err != nil; {
		case err != nil:
		case ended != nil:
			err = larder.ErrDeferred
		default:
			outs[i], err = e.collect(d)
		}
		if err != nil {
			errs[i] = err
		}
	}
	switch {
	case ended != nil && (!named || errors.Is(ended, dataset.ErrChanged)):
		return nil, ended
	case len(errs) > 0:
		return outs, &dataset.PartialError{Errs: errs}
	}
	return outs, nil
}

// maxReason bounds the used part of a reason, in bytes.
const maxReason = 2000

// error returns the command's error for a sample that it could not compute.
func (d desk) error() error {
	if d.failed == "" || d.intact(len(d.dirs)-1) != nil {
		return nil
	}
	info, err := os.Lstat(d.failed)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("the command wrote error, which is not a regular file")
	}
	f, err := os.Open(d.failed)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxReason))
	if err != nil {
		return err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return errors.New("the command failed and wrote an empty file error; write the reason there")
	}
	return fmt.Errorf("the command failed: %s", strings.ReplaceAll(string(text), "\n", "\n    "))
}
